/** The site of documentation: pages that `site/docs/make.ts` wrote, a search without a server, and the playground at /playground/. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'
import { type DefaultTheme, defineConfig, type MarkdownRenderer } from 'vitepress'
import { entries } from '../../../scripts/docs/public-names.js'
import { slugOf } from '../links.js'
import { groups } from '../sidebar.js'

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url))
/** Where pages are read and the site is written. */
const folder = path(`../../../${process.env.SITE_FOLDER ?? 'out/site'}`)
const pages = `${folder}/pages`
const base = process.env.SITE_BASE ?? '/'
const titleOf = (page: string): string => /^# (.*)$/m.exec(readFileSync(`${pages}/${page}.md`, 'utf8'))![1]!.replaceAll('`', '')

const linkOf = (page: string): string => `/${page.replace(/(^|\/)index$/, '$1')}`
const items = groups.map(({ title, pages: own }) => ({
  text: title,
  items: own.map((page) => ({ text: titleOf(page), link: linkOf(page) })),
}))
const names: DefaultTheme.SidebarItem[] = [
  { text: 'By entry point', items: Object.keys(entries).map((e) => ({ text: e, link: `/names/${e.replace('codual/', '')}/` })) },
  {
    text: 'By subject',
    items: [
      { text: 'All functions', link: '/functions' },
      { text: 'Names of other libraries', link: '/names' },
    ],
  },
]

type Token = ReturnType<MarkdownRenderer['parse']>[number]
/** Cells without a text head no column: they become plain cells, as readers of screens expect. */
const withoutEmptyHeads = (tokens: readonly Token[]): void => {
  tokens.forEach((token, i) => {
    if (token.type === 'th_open' && tokens[i + 1]!.content === '') {
      token.tag = 'td'
      tokens[i + 2]!.tag = 'td'
    }
  })
}

/** Links to the playground, which VitePress leaves as they are because it has no such page, lead below the base too. */
const belowBase = (tokens: readonly Token[]): void => {
  for (const token of tokens.flatMap((t) => t.children ?? [])) {
    const to = token.type === 'link_open' ? token.attrGet('href') : null
    if (to?.startsWith('/playground/')) token.attrSet('href', `${base}${to.slice(1)}`)
  }
}

export default defineConfig({
  title: 'codual',
  description: 'Automatic differentiation for TypeScript',
  lang: 'en',
  base,
  srcDir: pages,
  outDir: `${folder}/page`,
  cacheDir: `${folder}/cache`,
  // Titles of a thousand pages are one file, not a part of each.
  metaChunk: true,
  // Pages outside VitePress; site/docs/make.ts has looked at all links, and at anchors.
  ignoreDeadLinks: true,
  head: [['link', { rel: 'icon', href: `${base}icon.svg` }]],
  // A page loads what it shows, and no page that it links to.
  router: { prefetchLinks: false },
  markdown: {
    html: false,
    linkify: false,
    // Braces at the end of a text are mathematics; attributes, of links that run, have a delimiter of their own.
    attrs: { leftDelimiter: '{@', rightDelimiter: '@}' },
    anchor: { slugify: slugOf },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (md) => {
      // neither are colons in code around a word
      md.disable('emoji', true)
      // Vue reads {{ in a text as code.
      const { text } = md.renderer.rules
      md.renderer.rules.text = (...given) => (text?.(...given) ?? '').replaceAll('{{', '&#123;&#123;')
      md.core.ruler.push('empty heads', ({ tokens }) => withoutEmptyHeads(tokens))
      md.core.ruler.push('playground', ({ tokens }) => belowBase(tokens))
    },
  },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        // What every page of a name repeats is not what one looks for.
        _render: (text, env, md) =>
          env.relativePath?.startsWith('names/')
            ? md.render(text.replaceAll(/^#{2,6} (?:Signature|See also|Related)\n[\s\S]*?(?=^#{1,6} |$(?![\s\S]))/gm, ''), env)
            : md.render(text, env),
        miniSearch: {
          searchOptions: {
            // guides before pages of names, and these before types
            boostDocument: (id) => (id.includes('/types/') ? 0.3 : id.startsWith('/names/') ? 1 : 1.5),
          },
        },
      },
    },
    outline: [2, 3],
    nav: [
      { text: 'Get started', link: '/start' },
      { text: 'Functions', link: '/functions' },
      { text: 'Examples', link: '/examples' },
      { text: 'Playground', link: '/playground/', target: '_self' },
    ],
    sidebar: { '/': items, '/names/': names, '/reference/': names },
    socialLinks: [{ icon: 'github', link: 'https://github.com/codual/codual' }],
  },
  vite: {
    build: { chunkSizeWarningLimit: 8000 },
    plugins: [
      {
        name: 'playground',
        // The playground has a Vite of its own; in development it answers below /playground/.
        configureServer: async (server) => {
          const playground = await createServer({
            configFile: path('../../vite.config.ts'),
            base: '/playground/',
            server: { middlewareMode: true, hmr: false },
          })
          server.middlewares.use((request, response, next) => {
            if (request.url?.startsWith('/playground/')) playground.middlewares(request, response, next)
            else next()
          })
        },
      },
    ],
  },
})
