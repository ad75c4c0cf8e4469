/// <reference types="vite/client" />

/** Made by vite.config.ts: where the packed digits are served. */
declare module 'virtual:digits' {
  const address: string
  export default address
}
