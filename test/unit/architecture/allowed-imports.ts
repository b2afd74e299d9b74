/**
 * The allowed imports below `src/`: folders, single files, and `type:` for types only. `src/README.md` shows the same
 * table. Sibling folders do not import each other; `assembly/` passes functions between them.
 */
export const arrows: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  language: ['domain'],
  engine: ['domain', 'language'],
  telemetry: ['domain'],
  outbound: ['domain', 'type:store'],
  models: ['domain', 'type:store'],
  sandbox: ['domain', 'type:store'],
  files: ['domain', 'type:store', 'sync-folder.ts'],
  backup: ['domain', 'files/s3-client.ts'],
  accounts: ['domain', 'type:store', 'sync-folder.ts'],
  credentials: ['domain', 'type:store', 'accounts/fresh-cache.ts'],
  blocks: ['domain', 'language', 'engine/block.ts', 'type:outbound', 'type:models', 'type:sandbox', 'type:files'],
  store: ['domain', 'sync-folder.ts'],
  events: ['domain', 'type:store', 'type:outbound'],
  webhooks: ['domain', 'type:store', 'type:outbound'],
  triggers: ['domain', 'language', 'type:store', 'type:outbound'],
  cluster: ['domain', 'type:store'],
  http: [
    ...['domain', 'language', 'engine', 'telemetry', 'outbound', 'models', 'sandbox', 'files', 'accounts', 'blocks'],
    'credentials',
    ...['store', 'events', 'webhooks', 'triggers'],
  ],
  ui: [
    ...['type:http', 'domain/secret-headers.ts', 'domain/workflow/reference.ts', 'domain/run/items.ts'],
    ...['domain/credential/kinds.ts'],
    ...['domain/edits/change.ts', 'domain/edits/merge.ts', 'domain/edits/deep-map.ts', 'domain/edits/same-value.ts'],
    ...['domain/edits/rename-references.ts', 'domain/edits/repair.ts', 'language/preview.ts'],
  ],
  'setting-schemas.ts': ['domain'],
  'config.ts': ['domain', 'setting-schemas.ts'],
  'sync-folder.ts': [],
  'main.ts': ['cli', 'config.ts'],
  'app.ts': ['*'],
  assembly: ['*'],
  cli: ['*'],
}

/**
 * The allowed imports between the folders inside a folder. The files next to those folders are not restricted, and
 * every folder may import them. A folder that is missing here has no inner walls.
 */
export const innerArrows: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'src/domain': {
    edits: [],
    text: [],
    redaction: [],
    schedule: [],
    pagination: ['workflow'],
    account: ['type:redaction'],
    credential: ['account', 'type:workflow'],
    run: ['text', 'type:redaction', 'type:schedule', 'type:workflow'],
    webhook: ['type:run', 'type:workflow'],
    workflow: ['run', 'webhook', 'type:schedule'],
  },
  'src/engine': {
    compile: ['type:run'],
    run: ['type:compile'],
    jobs: ['run'],
    manual: ['run', 'type:compile'],
  },
  'src/http': {
    requests: [],
    access: ['requests', 'responses'],
    openapi: ['access', 'responses'],
    responses: ['access', 'openapi', 'requests', 'streams'],
    streams: ['requests', 'responses'],
    peers: ['access'],
    routes: ['access', 'openapi', 'peers', 'requests', 'responses', 'streams'],
  },
  'src/store/postgres': {
    migrations: ['connection.ts'],
    cluster: [],
    tables: ['cluster', 'type:logs'],
    logs: ['tables'],
    writes: ['cluster', 'tables', 'logs'],
    upkeep: ['cluster', 'tables', 'logs', 'writes', 'migrations'],
    move: ['cluster', 'tables', 'upkeep', 'migrations'],
  },
  'src/store/sqlite': {
    migrations: [],
    tables: ['writes/fan-out-records.ts', 'type:logs'],
    logs: ['tables'],
    writes: ['tables', 'logs'],
    'legacy-journal': ['writes'],
    upkeep: ['tables', 'logs', 'writes', 'migrations', 'legacy-journal', 'thread/executor.ts'],
    thread: ['tables', 'logs', 'writes', 'upkeep', 'legacy-journal'],
    move: ['tables', 'logs', 'writes', 'upkeep', 'migrations', 'legacy-journal'],
  },
  'src/cli': {
    support: ['commands/version.ts'],
    installation: ['support', 'commands/version.ts'],
    backups: ['support'],
    doctor: ['backups', 'installation', 'support'],
    move: ['backups/contents.ts', 'installation', 'support'],
    commands: ['backups', 'installation', 'move', 'support'],
  },
  'src/ui/editor': {
    document: ['canvas', 'type:save'],
    save: ['document', 'together/together-context.tsx'],
    palette: ['canvas', 'document'],
    run: ['canvas', 'document', 'inspector/code-editor.tsx', 'type:save'],
    values: ['document', 'run', 'canvas/block-icon.tsx'],
    pins: ['run', 'inspector/code-editor.tsx', 'type:save'],
    canvas: ['document', 'palette', 'pins', 'run', 'save', 'together/block-visitors.tsx'],
    together: ['run/read-events.ts', 'type:save'],
    listen: ['document', 'inspector/code-editor.tsx', 'pins', 'run', 'type:save', 'values'],
    inspector: ['canvas', 'document', 'listen', 'pins', 'run', 'values'],
    diff: ['canvas', 'document'],
    find: ['canvas', 'document'],
    deploy: ['canvas', 'diff', 'document', 'inspector/block-form.tsx', 'pins', 'type:run', 'type:save'],
  },
}

/** The folders that may import a package; `*` means every folder. A package that is missing here is not allowed. */
export const packages: Readonly<Record<string, readonly string[]>> = {
  '@sinclair/typebox': ['*'],
  '@aws-sdk/client-s3': ['backup', 'files'],
  '@aws-sdk/s3-request-presigner': ['files'],
  '@smithy/signature-v4': ['credentials'],
  oauth4webapi: ['credentials'],
  acorn: ['language'],
  croner: ['language'],
  'quickjs-wasi': ['sandbox'],
  elysia: ['http'],
  '@elysiajs/swagger': ['http'],
  'swagger-ui-dist': ['http'],
  'bun:sqlite': ['store'],
  'bun:ffi': ['telemetry'],
  'modern-tar': ['cli'],
  'eventsource-parser': ['cli', 'models'],
  '@ai-sdk/provider': ['models'],
  '@ai-sdk/openai': ['models'],
  '@ai-sdk/openai-compatible': ['models'],
  '@ai-sdk/anthropic': ['models'],
  '@ai-sdk/google': ['models'],
  '@cfworker/json-schema': ['models'],
  // scripts/build-interface.ts generates this module.
  '#interface': ['http'],
  react: ['ui'],
  'react-dom': ['ui'],
  '@xyflow/react': ['ui'],
  '@base-ui/react': ['ui'],
  '@tanstack/react-query': ['ui'],
  wouter: ['ui'],
  minisearch: ['ui'],
  diff: ['ui'],
  'lucide-react': ['ui'],
  '@codemirror/autocomplete': ['ui'],
  '@codemirror/commands': ['ui'],
  '@codemirror/lang-javascript': ['ui'],
  '@codemirror/lang-json': ['ui'],
  '@codemirror/language': ['ui'],
  '@codemirror/lint': ['ui'],
  '@codemirror/state': ['ui'],
  '@codemirror/view': ['ui'],
  '@lezer/highlight': ['ui'],
}

/** The maximum number of files at one level of a folder. */
export const filesPerFolderMax = 25

/** Folders that are lists of similar files. */
export const listFolders: readonly string[] = ['src/blocks', 'src/ui/parts']
