import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import type { InterfaceFiles } from '../../../src/http/responses/interface-files.ts'

export const pageText = '<!doctype html><title>Millrace</title>'
export const scriptText = 'document.title = "up"\n'.repeat(50)

/** A small made-up interface in a folder. The tests of the executable use the real one. */
export function madeUpInterface(folder: string): InterfaceFiles {
  const write = (name: string, bytes: Uint8Array | string) => {
    writeFileSync(join(folder, name), bytes)
    return join(folder, name)
  }
  return {
    '/': { type: 'text/html; charset=utf-8', etag: '"p1"', gz: write('page.gz', Bun.gzipSync(pageText)) },
    '/oauth': { type: 'text/html; charset=utf-8', etag: '"o1"', gz: write('oauth.gz', Bun.gzipSync(pageText)) },
    '/docs': { type: 'text/html; charset=utf-8', etag: '"d1"', gz: write('docs.gz', Bun.gzipSync(pageText)) },
    '/docs/concepts': {
      type: 'text/html; charset=utf-8',
      etag: '"d2"',
      gz: write('concepts.gz', Bun.gzipSync(pageText)),
    },
    '/docs-not-found': { type: 'text/html; charset=utf-8', etag: '"d3"', gz: write('none.gz', Bun.gzipSync(pageText)) },
    '/assets/main.js': {
      type: 'text/javascript; charset=utf-8',
      etag: '"s1"',
      br: write('main.br', brotliCompressSync(scriptText)),
      gz: write('main.gz', Bun.gzipSync(scriptText)),
    },
    '/assets/font.woff2': { type: 'font/woff2', etag: '"f1"', plain: write('font.woff2', 'a font') },
  }
}
