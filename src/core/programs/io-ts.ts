/** io-ts, for who makes its types. In Node it is loaded when it is first asked for (src/node/io-ts.ts stands in the place of this module there). */
import * as t from 'io-ts'

export const ioTs = (): typeof t => t
