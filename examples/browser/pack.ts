// The page's digits as one small file, made when the page is built: 16 greys, two pixels in a byte, compressed.
import { gzipSync } from 'node:zlib'
import { type Digits, loadDigits, pixels, thinned } from '../digits/data.js'

/** How many images no page trains on. */
const unseen = 1000

/** Labels, then pixels. */
const bytesOf = ({ images, labels, count }: Digits): Uint8Array => {
  const bytes = new Uint8Array(count + (count * pixels) / 2)
  bytes.set(labels)
  const grey = (i: number): number => Math.round(15 * images[i]!)
  for (let i = 0; i < count * pixels; i += 2) bytes[count + i / 2] = (grey(i) << 4) | grey(i + 1)
  return bytes
}

/** Two counts (32 bits each, little-endian), so many images to train on, the images never seen; gzip. */
export const packDigits = (trained = 4000): Uint8Array => {
  const { train, test } = loadDigits()
  const parts = [thinned(train, trained), thinned(test, unseen)] as const
  const counts = new DataView(new ArrayBuffer(8))
  parts.forEach(({ count }, i) => {
    counts.setUint32(4 * i, count, true)
  })
  return gzipSync(Buffer.concat([new Uint8Array(counts.buffer), ...parts.map(bytesOf)]), { level: 9 })
}
