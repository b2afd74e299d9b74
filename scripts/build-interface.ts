import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { compile, optimize } from '@tailwindcss/node'
import { Scanner } from '@tailwindcss/oxide'
import { buildDocs } from './docs/build-docs.ts'

/**
 * Builds the editor, the dashboard (`src/ui`) and the documentation (`docs`) into a folder: hashed, compressed files,
 * and a module that names them (`interface.js`, in the shape that `src/http/responses/interface-files.ts` declares).
 * Returns the module's path.
 */
export async function buildInterface(folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true })
  const [scripts, chat, form, pause, oauth, docs, theme, css] = await Promise.all([
    bundle('main.tsx'),
    bundle('chat/chat.ts'),
    bundle('form/form.ts'),
    bundle('pause/pause.ts'),
    bundle('oauth/oauth.ts'),
    bundle('docs/docs.ts'),
    bundle('theme-start.ts'),
    styles(),
  ])
  const assets: Asset[] = [...scripts, ...chat, ...form, ...pause, ...oauth, ...docs, ...theme]
  const add = (name: string, type: string, body: Uint8Array) => {
    const dot = name.lastIndexOf('.')
    const asset = { path: `/assets/${name.slice(0, dot)}-${hashOf(body)}${name.slice(dot)}`, type, body }
    assets.push(asset)
    return asset.path
  }
  const icon = add('icon.svg', 'image/svg+xml', await read(join(source, 'icon.svg')))
  const font = add('inter.woff2', 'font/woff2', await read(resolve(root, 'node_modules', fontFile)))
  const style = add('main.css', typeOf('.css'), bytesOf(css.replaceAll('/inter.woff2', font)))
  const chatStyle = add('chat.css', typeOf('.css'), bytesOf(minified(await text('chat/chat.css'))))
  const formStyle = add('form.css', typeOf('.css'), bytesOf(minified(await text('form/form.css'))))
  const docsStyle = add('docs.css', typeOf('.css'), bytesOf(minified(await text('docs/docs.css'))))
  const frame = { icon, font, style, docsStyle, theme: entryOf(theme).path, script: entryOf(docs).path }
  const docPages = buildDocs(frame, add).map((file) =>
    'html' in file ? htmlFile(file.path, file.html) : markdownFile(file.path, file.markdown),
  )
  const docsSearch = assets.find(({ path }) => path.startsWith('/assets/docs-search-'))!.path
  const page = (path: string, html: string) => {
    const body = html
      .replace('/icon.svg', icon)
      .replace('/inter.woff2', font)
      .replace('/main.css', style)
      .replace('/chat.css', chatStyle)
      .replace('/form.css', formStyle)
      .replace('/docs-search.json', docsSearch)
      .replace('/theme-start.js', entryOf(theme).path)
      .replace('/main.js', entryOf(scripts).path)
      .replace('/chat.js', entryOf(chat).path)
      .replace('/form.js', entryOf(form).path)
      .replace('/pause.js', entryOf(pause).path)
      .replace('/oauth.js', entryOf(oauth).path)
    return htmlFile(path, body)
  }
  const pages = [
    page('/', await text('shell.html')),
    page('/chat', await text('chat/chat.html')),
    page('/form', await text('form/form.html')),
    page('/pause', await text('pause/pause.html')),
    page('/oauth', await text('oauth/oauth.html')),
    ...docPages,
  ]
  const files = [...assets, ...pages]
  const path = join(folder, 'interface.js')
  writeFileSync(path, moduleOf(files, folder))
  return path
}

/** A file as a browser requests it. */
type Asset = { path: string; type: string; body: Uint8Array; isEntry?: boolean }

const root = resolve(import.meta.dir, '..')
const source = join(root, 'src', 'ui')
const fontFile = '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'

/** A script with its imports. Dynamic imports become separate files. */
async function bundle(entry: string): Promise<Asset[]> {
  const result = await Bun.build({
    entrypoints: [join(source, entry)],
    target: 'browser',
    format: 'esm',
    splitting: true,
    minify: true,
    naming: { entry: '[name]-[hash].[ext]', chunk: '[name]-[hash].[ext]' },
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  if (!result.success) throw new AggregateError(result.logs, 'The interface could not be built.')
  return await Promise.all(
    result.outputs.map(async (output) => ({
      path: `/assets/${output.path.replace(/^\.?\//, '')}`,
      type: typeOf('.js'),
      body: new Uint8Array(await output.arrayBuffer()),
      isEntry: output.kind === 'entry-point',
    })),
  )
}

/** The style sheet: the tokens, and the classes that `src/ui` uses. */
async function styles(): Promise<string> {
  const text = await Bun.file(join(source, 'styles.css')).text()
  const compiler = await compile(text, { base: source, onDependency: () => undefined })
  const scanner = new Scanner({ sources: [{ base: source, pattern: '**/*.{ts,tsx}', negated: false }] })
  return optimize(compiler.build(scanner.scan()), { minify: true }).code
}

/** Writes the compressed variants of each file and returns a module that lists them. */
function moduleOf(files: readonly Asset[], folder: string): string {
  const imports: string[] = []
  const rows = files.map(({ path, type, body }, index) => {
    const etag = JSON.stringify(`"${hashOf(body)}"`)
    const facts = `type: ${JSON.stringify(type)}, etag: ${etag}`
    const name = path.startsWith('/assets/') ? basename(path) : `${path.slice(1).replace('/', '-') || 'shell'}.html`
    const write = (ending: string, bytes: Uint8Array) => {
      writeFileSync(join(folder, name + ending), bytes)
      imports.push(`import ${ending.slice(1)}${index} from './${name}${ending}' with { type: 'file' }`)
      return `${ending.slice(1)}: ${ending.slice(1)}${index}`
    }
    const isCompressed = ['.woff2', '.png', '.jpg', '.webp'].includes(extname(path))
    const forms = isCompressed ? [write('.plain', body)] : [write('.br', brotli(body)), write('.gz', gzip(body))]
    return `  ${JSON.stringify(path)}: { ${facts}, ${forms.join(', ')} },`
  })
  return `${imports.join('\n')}\n\nexport const files = {\n${rows.join('\n')}\n}\n`
}

function htmlFile(path: string, html: string): Asset {
  return { path, type: 'text/html; charset=utf-8', body: bytesOf(html) }
}

function markdownFile(path: string, markdown: string): Asset {
  return { path, type: 'text/markdown; charset=utf-8', body: bytesOf(markdown) }
}

function brotli(bytes: Uint8Array): Uint8Array {
  return brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  })
}

function gzip(bytes: Uint8Array): Uint8Array {
  return gzipSync(bytes, { level: 9 })
}

function entryOf(assets: readonly Asset[]): Asset {
  return assets.find(({ isEntry }) => isEntry)!
}

function typeOf(ending: '.js' | '.css'): string {
  return ending === '.js' ? 'text/javascript; charset=utf-8' : 'text/css; charset=utf-8'
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16)
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function minified(css: string): string {
  return optimize(css, { minify: true }).code
}

function text(name: string): Promise<string> {
  return Bun.file(join(source, name)).text()
}

async function read(path: string): Promise<Uint8Array> {
  return await Bun.file(path).bytes()
}

/** `bun scripts/build-interface.ts` builds into `dist/interface` in one step, for the service run from source. */
if (import.meta.main) {
  const place = join(root, 'dist', 'interface')
  const fresh = `${place}.${process.pid}`
  mkdirSync(dirname(place), { recursive: true })
  await buildInterface(fresh)
  rmSync(place, { recursive: true, force: true })
  renameSync(fresh, place)
}
