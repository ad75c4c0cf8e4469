/// <reference types="vite/client" />

/** Made by the vite.config.ts of each page: where the packed digits are served. */
declare module 'virtual:digits' {
  const address: string
  export default address
}

/** Made by examples/served/vite.config.ts: where the trained model is served. */
declare module 'virtual:model' {
  const address: string
  export default address
}
