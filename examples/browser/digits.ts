// The digits that the page was built with (see pack.ts), as images and labels.
import address from 'virtual:digits'
import { type Digits, pixels } from '../digits/batches.js'

const unpack = (bytes: Uint8Array, count: number): Digits => {
  const images = new Float32Array(count * pixels)
  for (let i = 0; i < images.length; i += 2) {
    const two = bytes[count + i / 2]!
    images[i] = (two >> 4) / 15
    images[i + 1] = (two & 15) / 15
  }
  return { images, labels: Int32Array.from(bytes.subarray(0, count)), count }
}

export const fetchDigits = async (): Promise<{ readonly train: Digits; readonly unseen: Digits }> => {
  const answer = await fetch(address)
  if (!answer.ok || answer.body === null) throw new Error(`the digits did not load (${answer.status}): reload the page.`)
  const bytes = new Uint8Array(await new Response(answer.body.pipeThrough(new DecompressionStream('gzip'))).arrayBuffer())
  const counts = new DataView(bytes.buffer)
  const [train, unseen] = [counts.getUint32(0, true), counts.getUint32(4, true)]
  const size = 1 + pixels / 2
  return {
    train: unpack(bytes.subarray(8, 8 + train * size), train),
    unseen: unpack(bytes.subarray(8 + train * size), unseen),
  }
}
