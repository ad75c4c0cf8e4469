/** Programs as the last part of an address: compressed, in letters that an address may hold. */

const through = async (bytes: Uint8Array<ArrayBuffer>, change: CompressionStream | DecompressionStream): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(change)).arrayBuffer())

const prefix = '#p='

/** The hash of an address that holds this program. */
export const hashOf = async (text: string): Promise<string> => {
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream('deflate-raw'))
  const letters = btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join(''))
  return `${prefix}${letters.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`
}
/** The program that a hash holds; undefined where it holds none, or one that was cut. */
export const programOf = async (hash: string): Promise<string | undefined> => {
  if (!hash.startsWith(prefix)) return undefined
  try {
    const letters = atob(hash.slice(prefix.length).replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = await through(
      Uint8Array.from(letters, (c) => c.charCodeAt(0)),
      new DecompressionStream('deflate-raw'),
    )
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
