/// <reference types="vite/client" />

interface ImportMetaEnv {
  /** Whether this is a build, which has a service worker, and not the development server. */
  readonly BUILT: boolean
}

/** Made by vite.config.ts: declarations by their paths. */
declare module 'virtual:declarations' {
  const files: Readonly<Record<string, string>>
  export default files
}
/** Made by vite.config.ts: the script of the worker that runs programs. */
declare module 'virtual:runner' {
  const script: string
  export default script
}
/** Made by vite.config.ts: the gallery. */
declare module 'virtual:examples' {
  const examples: readonly { readonly name: string; readonly text: string }[]
  export default examples
}
