/** io-ts, for who makes its types. In Node it is loaded when it is first asked for (io-ts-node.ts stands in the place of this module there). */
import * as t from 'io-ts'

export const ioTs = (): typeof t => t
