// Files that a page is built with: made when it is built, and when the development server is asked.
import type { Plugin } from 'vite'

/** `virtual:ID` is the address of these bytes: an asset of the build, or a route of the development server. */
export const asset = (id: string, name: string, make: () => Uint8Array | Promise<Uint8Array>): Plugin => {
  const module = `virtual:${id}`
  let building = false
  return {
    name: id,
    configResolved(config) {
      building = config.command === 'build'
    },
    configureServer(server) {
      server.middlewares.use(`/${name}`, (_, answer, next) => {
        answer.setHeader('Content-Type', 'application/octet-stream')
        Promise.resolve(make()).then((bytes) => answer.end(bytes), next)
      })
    },
    resolveId: (source) => (source === module ? `\0${module}` : undefined),
    async load(loaded) {
      if (loaded !== `\0${module}`) return undefined
      if (!building) return `export default '/${name}'`
      const reference = this.emitFile({ type: 'asset', name, source: await make() })
      return `export default import.meta.ROLLUP_FILE_URL_${reference}`
    },
  }
}
