import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { SearchEntry } from '../../src/ui/docs/search.ts'
import { contentsHtml, type Frame, notFoundHtml, pageHtml } from './layout.ts'
import { docsFolder, readPages, sourceOf } from './pages.ts'

/**
 * The HTML of `docs/`, by the path that serves each page; `src/http/routes/docs.ts` serves them. `/docs/<page>.md` is
 * the text for programs. `add` stores a file under `/assets/` and returns its address.
 */
export function buildDocs(frame: Frame, add: (name: string, type: string, body: Uint8Array) => string): DocsFile[] {
  const images = readImages(add)
  const groups = readPages((name) => images.get(name)!)
  const pages = groups.flatMap((group) => group.pages)
  const entries: SearchEntry[] = pages.flatMap(({ name, title, sections }) =>
    sections.map(({ heading, anchor, text }) => ({
      address: anchor === '' ? `/docs/${name}` : `/docs/${name}#${anchor}`,
      page: title,
      heading,
      text,
    })),
  )
  const index = new TextEncoder().encode(JSON.stringify(entries))
  const site = { groups, frame, searchIndex: add('docs-search.json', 'application/json', index) }
  return [
    { path: '/docs', html: contentsHtml(site) },
    { path: '/docs-not-found', html: notFoundHtml(site) },
    ...pages.map((page) => ({ path: `/docs/${page.name}`, html: pageHtml(site, page) })),
    ...pages.map(({ name }) => ({ path: `/docs/${name}.md`, markdown: sourceOf(name) })),
  ]
}

export type DocsFile = { path: string; html: string } | { path: string; markdown: string }

const imageTypes: Readonly<Record<string, string | undefined>> = {
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.jpg': 'image/jpeg',
  '.svg': 'image/svg+xml',
}

/** Addresses of the files in `docs/images/`, by file name. */
function readImages(add: (name: string, type: string, body: Uint8Array) => string): Map<string, string> {
  const folder = join(docsFolder, 'images')
  const addresses = new Map<string, string>()
  for (const name of existsSync(folder) ? readdirSync(folder).toSorted() : []) {
    const type = imageTypes[extname(name)]
    if (type !== undefined) addresses.set(name, add(`docs-${name}`, type, readFileSync(join(folder, name))))
  }
  return addresses
}
