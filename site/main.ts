/** The playground: what stands in index.html is painted before the editor is loaded. */
import { painted } from './painted.js'

const { open } = await painted().then(() => import('./page.js'))
open()
