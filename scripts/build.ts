import { mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildInterface } from './build-interface.ts'

/**
 * Builds the executable: `bun run build [--outfile dist/millrace] [--target bun-linux-arm64] [--silent]`.
 * The executable is replaced in one step, so that a running one is not affected and never half-written.
 */
async function build(): Promise<void> {
  const { values } = parseArgs({
    options: {
      outfile: { type: 'string', default: 'dist/millrace' },
      /** Another platform, e.g. `bun-linux-arm64`. The first build fetches its Bun from the npm registry. */
      target: { type: 'string' },
      silent: { type: 'boolean', default: false },
    },
  })
  const outfile = resolve(values.outfile)
  const folder = join(dirname(outfile), `.build-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  try {
    const startedAt = performance.now()
    const interfaceModule = await buildInterface(join(folder, 'interface'))
    const result = await Bun.build({
      entrypoints: [join(source, 'main.ts'), ...workers.map((worker) => join(source, worker))],
      root: source,
      target: 'bun',
      // Bytecode without `format: 'esm'` breaks top-level await and freezes `import.meta.url` to this machine's paths.
      format: 'esm',
      bytecode: true,
      // Each command is a chunk that is loaded when it is called.
      splitting: true,
      minify: true,
      plugins: [resolving('#interface', interfaceModule), withoutMailTables],
      // Embedded, so that stack traces refer to lines of the source.
      sourcemap: 'linked',
      define: {
        'process.env.NODE_ENV': '"production"',
        MILLRACE_BUILD_VERSION: JSON.stringify(packageVersion),
        MILLRACE_BUILD_COMMIT: JSON.stringify(commit()),
      },
      compile: {
        outfile: join(folder, basename(outfile)),
        ...(values.target === undefined ? {} : { target: values.target as Bun.Build.CompileTarget }),
        // Otherwise the executable would load `.env` and `bunfig.toml` from the current folder.
        autoloadDotenv: false,
        autoloadBunfig: false,
      },
    })
    if (!result.success) throw new AggregateError(result.logs, 'The build failed.')
    renameSync(join(folder, basename(outfile)), outfile)
    if (!values.silent) {
      const size = (statSync(outfile).size / 1024 / 1024).toFixed(0)
      console.log(`${values.outfile}: ${size} MB, built in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Resolves the interface module of `package.json` to the one built for this executable. */
function resolving(name: string, path: string): Bun.BunPlugin {
  return {
    name,
    setup(build) {
      build.onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path }))
    },
  }
}

/**
 * Leaves out tables of character sets and media types, and a client for proxies. The IMAP library brings them for
 * features that the service does not use: it reads whole messages, and parses them with another library.
 */
const withoutMailTables: Bun.BunPlugin = {
  name: 'without tables of the IMAP library',
  setup(build) {
    // It reads the table of GBK when it is loaded.
    const tables = /\/node_modules\/iconv-lite\/encodings\/tables\/(?!cp936|gbk-added)/
    build.onLoad({ filter: tables }, () => ({ contents: '[]', loader: 'json' }))
    const unused = ['libmime/dist/(cjs|esm)/mimetypes', 'encoding-japanese/', 'socks/']
    build.onLoad({ filter: new RegExp(`/node_modules/(${unused.join('|')})`) }, () => ({
      contents: 'module.exports = {}',
      loader: 'js',
    }))
  },
}

const root = resolve(import.meta.dir, '..')
const source = join(root, 'src')

/** Files that run as workers. Each is an entry point with the same path below the executable's root. */
const workers = [
  'sandbox/worker.ts',
  'formats/worker.ts',
  'mail/mime-worker.ts',
  'store/sqlite/thread/worker.ts',
  'telemetry/watchdog-worker.ts',
]

const packageVersion = ((await Bun.file(join(root, 'package.json')).json()) as { version: string }).version

/** The value of `MILLRACE_BUILD_COMMIT`, else the current commit, with a `+` if files differ from it. */
function commit(): string {
  const given = process.env['MILLRACE_BUILD_COMMIT']
  if (given) return given
  try {
    const git = (...words: string[]) => {
      return Bun.spawnSync(['git', '--no-optional-locks', ...words], { cwd: root, stderr: 'ignore' })
    }
    const head = git('rev-parse', '--short=12', 'HEAD')
    if (head.exitCode !== 0) return 'unknown'
    const changed = git('status', '--porcelain', '--untracked-files=no').stdout.length > 0
    return head.stdout.toString().trim() + (changed ? '+' : '')
  } catch {
    return 'unknown'
  }
}

await build()
