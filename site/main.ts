/** The playground: what stands in index.html is painted before the editor is loaded. */
import { painted } from './painted.js'

// A link opens another program than the one that stands there.
if (location.hash.startsWith('#p=')) document.getElementById('first')?.remove()
const { open } = await painted().then(() => import('./page.js'))
open()
