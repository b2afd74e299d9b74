// Long because it lists every setting.

import { secretKeyCharsMin } from './domain/account/environment.ts'
import { tierNames, tierSettings } from './domain/account/tiers.ts'
import { defaultLimits } from './domain/limits.ts'
import { plainArray, plainBoolean, plainNumber, plainOptional, plainString } from './domain/plain-schema.ts'
import { bytes, duration, oneOf, whole } from './domain/setting-schema.ts'

const KB = 1024
const MB = 1024 * KB
const GB = 1024 * MB
const hourMs = 3_600_000

const origin = 'https?://([^\\s/?#@:[\\]]+|\\[[0-9a-fA-F:.]+\\])(:\\d{1,5})?'
const webAddress = { pattern: `^${origin}(/[^\\s?#]*)?$`, range: 'an http or https address' } as const

const optionalOrigin = (description: string) =>
  plainOptional(
    plainString({ pattern: `^${origin}/?$`, range: 'an http or https address without a path', description }),
  )

/**
 * Every setting with its default, range and description. The name of a member determines the names of the setting:
 * `logLevel` is `MILLRACE_LOG_LEVEL` in the environment and in a `--config` file, and `--log-level` on the command
 * line. `config.ts` resolves the values.
 */
export const settingSchemas = {
  host: plainString({
    default: '127.0.0.1',
    minLength: 1,
    description: 'Address to listen on; 0.0.0.0 listens on all addresses.',
  }),
  port: whole(3000, 0, 65_535, 'Port to listen on; 0 selects a free port.'),
  data: plainString({ default: './data', minLength: 1, description: 'Folder of the installation.' }),
  store: plainString({
    default: 'sqlite',
    pattern: '^(sqlite|postgres(ql)?://.+)$',
    range: 'sqlite or postgres://USER:PASSWORD@HOST:PORT/DATABASE',
    secret: true,
    description: 'Database of the installation: sqlite for a file in the data folder, or the address of a PostgreSQL.',
  }),
  storeBytes: bytes(
    100 * MB,
    0,
    1024 * GB,
    'Bytes of the entries that the workflows of a workspace keep between their runs.',
  ),
  baseUrl: optionalOrigin('Public address of the service, used in links. By default, the address it listens on.'),
  advertiseUrl: optionalOrigin(
    'Address at which other processes of the installation reach this one; found by default.',
  ),
  trustedProxies: plainArray(plainString({ pattern: '^[^\\s,]+$' }), {
    default: [],
    range: 'loopback, private, addresses and CIDR blocks, comma-separated',
    description: 'Proxies in front of the service. Their X-Forwarded-For header provides the client address.',
  }),
  noAuth: plainBoolean({
    default: false,
    description: 'Turns off sign-in to the dashboard. Allowed only on a loopback address.',
  }),
  sessionDays: whole(30, 1, 365, 'Days without activity after which a dashboard session expires.'),
  secretKey: plainOptional(
    plainString({
      minLength: secretKeyCharsMin,
      secret: true,
      range: 'keys of at least 32 characters, separated by commas',
      description:
        'Key that encrypts stored secrets. By default, a key file created in the data folder. ' +
        'Of several, the first encrypts and all decrypt.',
    }),
  ),
  logLevel: oneOf(['debug', 'info', 'warn', 'error'], 'info', 'Lowest level of log lines that the process writes.'),
  accessLog: oneOf(
    ['off', 'errors', 'all'],
    'errors',
    'Requests to log: none, those with a status of 400 or more, or all.',
  ),
  stopGraceMs: whole(10_000, 0, 3_600_000, 'Milliseconds that runs in flight may continue after a stop signal.'),
  watchdogMs: whole(
    30_000,
    0,
    3_600_000,
    'Milliseconds that the main thread may be stuck before the process exits with code 70; 0 turns this off.',
  ),

  sync: oneOf(
    ['full', 'normal'],
    'full',
    'full: acknowledged runs survive a power cut. normal: they survive only a crash of the process.',
  ),
  logQueueMax: whole(10_000, 1, 1_000_000, 'Ended runs that may wait for the disk. Beyond that, new runs get 503.'),
  logRetentionDays: whole(30, 1, 36_500, 'Days to keep log entries.'),
  logRetentionBytes: bytes(
    10 * GB,
    10 * MB,
    2 ** 50,
    'Maximum size of the database. Beyond it, the oldest log entries are deleted.',
  ),

  runsMax: whole(defaultLimits.runsMax, 1, 1_000_000, 'Concurrent synchronous runs. Beyond that, callers get 503.'),
  shareFactor: whole(
    defaultLimits.shareFactor,
    1,
    1000,
    'A workspace may take another slot while it holds fewer slots than this factor times the free ones.',
  ),
  runTimeoutMs: whole(defaultLimits.runTimeoutMs, 1, 604_800_000, 'Timeout of a synchronous run in milliseconds.'),
  asyncTimeoutMs: whole(5_400_000, 1, 604_800_000, 'Timeout of an asynchronous run in milliseconds.'),
  pauseInMemoryMs: whole(30_000, 0, 604_800_000, 'A longer wait, in milliseconds, takes a run out of memory.'),
  jobsConcurrency: whole(100, 1, 100_000, 'Concurrent asynchronous runs. Further ones wait in the queue.'),
  jobsWaitingMax: whole(
    1_000_000,
    1,
    1_000_000_000,
    'Asynchronous runs that may wait in the queue. Beyond that, callers get 503.',
  ),
  pausesMax: whole(
    2_000_000,
    1,
    1_000_000_000,
    'Paused blocks of one workspace. Beyond that, a block that would pause fails with TOO_MANY_PAUSES.',
  ),
  blocksMax: whole(defaultLimits.blocksMax, 1, 10_000_000, 'Maximum number of block executions in a run.'),
  loopIterationsMax: whole(defaultLimits.loopIterationsMax, 1, 10_000_000, 'Maximum number of iterations of a loop.'),
  parallelBranchesMax: whole(
    defaultLimits.parallelBranchesMax,
    1,
    100_000,
    'Maximum number of branches of a parallel.',
  ),
  parallelConcurrencyMax: whole(defaultLimits.parallelConcurrencyMax, 1, 10_000, 'Concurrent branches of a parallel.'),
  documentBlocksMax: whole(2_000, 10, 1_000_000, 'Maximum number of blocks in a workflow document that is saved.'),
  documentValuesMax: whole(100_000, 100, 100_000_000, 'Maximum number of values in a workflow document.'),
  documentBytesMax: bytes(2 * MB, KB, GB, 'Maximum size of a workflow document that is saved or checked.'),
  documentEdgesMax: whole(10_000, 10, 1_000_000, 'Maximum number of edges in a workflow document that is saved.'),
  documentReferencesMax: whole(
    defaultLimits.documentReferencesMax,
    100,
    100_000_000,
    'Maximum number of references in a workflow document, with environment variables.',
  ),
  nestingMax: whole(defaultLimits.nestingMax, 1, 100, 'Maximum nesting of loops and parallels.'),
  codeCharsMax: whole(
    defaultLimits.codeCharsMax,
    1_000,
    10_000_000,
    'Maximum number of characters in the code of a function.',
  ),
  expressionCharsMax: whole(
    defaultLimits.expressionCharsMax,
    1_000,
    10_000_000,
    'Maximum number of characters in an expression.',
  ),
  subworkflowDepthMax: whole(defaultLimits.subworkflowDepthMax, 1, 100, 'Maximum depth of sub-workflows.'),
  runBytesMax: bytes(defaultLimits.runBytesMax, MB, 64 * GB, 'Maximum size of all values that a run holds.'),
  runsBytesMax: bytes(
    defaultLimits.runsBytesMax,
    MB,
    1024 * GB,
    'Memory for the values of all runs with more than 1 MB. Beyond it, large runs wait for one another.',
  ),
  blockBytesMax: bytes(
    defaultLimits.blockBytesMax,
    KB,
    64 * GB,
    'Maximum size of the parameters of a block with their values, and of its outputs.',
  ),
  dataFileBytes: bytes(
    defaultLimits.dataFileBytes,
    KB,
    1024 * GB,
    'Maximum size of the files that one data block writes.',
  ),
  expressionWorkMax: whole(
    defaultLimits.expressionWorkMax,
    0,
    1_000_000_000,
    'Maximum work of an expression in the main thread, in units of about 20 ns. Beyond it, the sandbox takes over.',
  ),
  bodyBytesMax: bytes(10 * MB, KB, GB, 'Maximum size of a request body if the trigger declares no files.'),
  bodyBytesMaxFiles: bytes(160 * MB, KB, 4 * GB, 'Maximum size of a request body if the trigger declares files.'),
  bodyValuesMax: whole(200_000, 100, 100_000_000, 'Maximum number of values in a JSON body.'),
  formFieldsMax: whole(10_000, 1, 10_000_000, 'Maximum number of fields in a form, and of parameters in a query.'),
  requestFilesMax: whole(1_000, 0, 100_000, 'Maximum number of files in a request.'),
  bodyRatioMax: whole(
    100,
    1,
    100_000,
    'Maximum ratio between the decompressed and the compressed size of a body beyond 1 MB (64 KB for visitors).',
  ),
  anonymousBodyBytesMax: bytes(MB, KB, GB, 'Maximum size of a body from a visitor without a key or signature.'),
  anonymousBodyBytesMaxFiles: bytes(
    10 * MB,
    KB,
    4 * GB,
    'Maximum size of a body with files from a visitor without a key or signature.',
  ),
  formBytesMaxFiles: bytes(
    32 * MB,
    KB,
    4 * GB,
    'Maximum size of a form, or of an answer to an approval, that has a field for files.',
  ),
  anonymousBodyValuesMax: whole(
    20_000,
    100,
    100_000_000,
    'Maximum number of values in a JSON body from a visitor without a key or signature.',
  ),
  anonymousFormFieldsMax: whole(
    1_000,
    1,
    10_000_000,
    'Maximum number of fields in a form from a visitor without a key or signature.',
  ),
  anonymousFilesMax: whole(
    10,
    0,
    100_000,
    'Maximum number of files in a request from a visitor without a key or signature.',
  ),
  bodiesBytesMax: bytes(
    128 * MB,
    MB,
    64 * GB,
    'Memory for the bodies of all requests in progress, with their values. Beyond that, callers get 503.',
  ),
  cancelOnDisconnect: plainBoolean({
    default: true,
    description: 'Whether a run is cancelled when its caller disconnects.',
  }),
  watchersMax: whole(1000, 1, 1_000_000, 'Concurrent watchers of live runs.'),
  manualRunsBytes: bytes(
    64 * MB,
    0,
    64 * GB,
    'Memory for the outputs of manual runs, so that a run can be repeated from any of its blocks.',
  ),
  streamBufferBytes: bytes(MB, KB, GB, 'Text that is buffered for a slow reader of a stream.'),

  outboundAllow: plainArray(plainString({ pattern: '^[^\\s,]+$' }), {
    default: [],
    range: 'loopback, private, CIDR blocks, host or host:port, comma-separated',
    description: 'Non-public addresses that workflows may call.',
  }),
  sqliteFolders: plainArray(plainString({ pattern: '^/[^,]*$' }), {
    default: [],
    range: 'absolute paths of folders, comma-separated',
    description: 'Folders with SQLite files that workflows may open. Without one, they may open no file.',
  }),
  outboundConcurrency: whole(192, 1, 65_000, 'Concurrent requests of workflows.'),
  outboundHostConcurrency: whole(
    50,
    1,
    65_535,
    'Concurrent requests of one workspace to one origin (scheme, host and port). A host name gets four times as many.',
  ),
  pollHostConcurrency: whole(4, 1, 1_000, 'Concurrent polls of one origin by polling triggers, of all workspaces.'),

  chatVisitorPerMinute: whole(
    20,
    1,
    1_000_000_000,
    'Messages per minute that one address may send to one chat without a key.',
  ),
  webhookVisitorPerMinute: whole(
    600,
    1,
    1_000_000_000,
    'Requests per minute that one address may send to one webhook trigger without authentication.',
  ),
  formVisitorPerMinute: whole(
    30,
    1,
    1_000_000_000,
    'Forms a minute from one address to one form that is public or has a password.',
  ),
  publicChatUsdPerDay: plainNumber({
    default: 10,
    minimum: 0,
    maximum: 1_000_000_000,
    description: 'US dollars that the runs of one public chat may cost in a day (UTC). Then it responds with 402.',
  }),
  plan: oneOf(tierNames, 'enterprise', 'Tier of accounts without a tier of their own.'),
  ...tierSettings,
  webhookMaxAttempts: whole(5, 1, 50, 'Maximum number of attempts of a webhook delivery.'),
  webhookTimeoutMs: whole(30_000, 100, 120_000, 'Timeout of one webhook delivery attempt in milliseconds.'),
  webhookConcurrency: whole(500, 1, 65_535, 'Concurrent webhook delivery attempts.'),
  webhookHostConcurrency: whole(
    10,
    1,
    65_535,
    'Concurrent webhook delivery attempts to one origin (scheme, host and port).',
  ),
  workspaceFilesMax: whole(1_000_000, 0, 1_000_000_000, 'Maximum number of stored files of one workspace.'),
  workspaceFileBytes: bytes(10 * GB, 0, 2 ** 50, 'Maximum size of all stored files of one workspace.'),
  fileUrlTtlS: whole(3600, 1, 604_800, 'Seconds for which a signed file URL is valid.'),
  modelPrices: plainOptional(
    plainString({ minLength: 1, description: 'File with model prices that override the built-in table.' }),
  ),
  assistantModel: plainOptional(
    plainString({
      pattern: '^(openai|anthropic|google|openai-compatible)/\\S{1,200}$',
      range: 'openai/MODEL, anthropic/MODEL, google/MODEL or openai-compatible/MODEL',
      description: 'Language model of the assistant in the editor. Without it, the assistant is off.',
    }),
  ),
  assistantApiKey: plainOptional(
    plainString({ minLength: 1, secret: true, description: 'API key of the provider of the assistant.' }),
  ),
  assistantBaseUrl: plainOptional(
    plainString({
      ...webAddress,
      description: 'Address of the model of the assistant; required for openai-compatible.',
    }),
  ),
  assistantTokensPerDay: whole(
    2_000_000,
    1,
    1_000_000_000_000,
    'Tokens that the assistant may use for one account in a day (UTC). Then it responds with 402.',
  ),
  smtpUrl: plainOptional(
    plainString({
      pattern: '^smtps?://\\S+$',
      range: 'smtps://USER:PASSWORD@HOST:PORT, or smtp:// for STARTTLS',
      secret: true,
      description: 'Mail server for e-mails of the service: sign-in links, approvals and alerts. None by default.',
    }),
  ),
  smtpFrom: plainOptional(
    plainString({
      pattern: '@',
      range: 'an address, such as Millrace <millrace@example.com>',
      description: 'Sender of these e-mails. By default the user of the mail server, if that is an address.',
    }),
  ),
  s3Bucket: plainOptional(plainString({ minLength: 1, description: 'S3 bucket for files.' })),
  s3Endpoint: plainOptional(plainString({ ...webAddress, description: 'Address of the S3 service.' })),
  s3Region: plainOptional(plainString({ minLength: 1, description: 'Region of the bucket.' })),
  s3ForcePathStyle: plainBoolean({
    default: false,
    description: 'Whether requests name the bucket in the path instead of the host name.',
  }),
  s3Prefix: plainOptional(plainString({ minLength: 1, description: 'Prefix of every key in the bucket.' })),
  s3PublicEndpoint: plainOptional(
    plainString({ ...webAddress, description: 'Address of the S3 service in URLs for callers.' }),
  ),

  backup: plainOptional(
    plainString({
      pattern: '^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^\\s\\\\]*)?$',
      range: 's3://BUCKET or s3://BUCKET/PATH',
      description: 'Bucket for scheduled backups; none by default.',
    }),
  ),
  backupEvery: duration(hourMs, 10_000, 30 * 24 * hourMs, 'Time between two scheduled backups.'),
  backupKeep: whole(48, 1, 100_000, 'Scheduled backups to keep. Older ones are deleted.'),

  url: plainString({
    default: 'http://127.0.0.1:3000',
    pattern: '^https?://[^\\s/?#]+(/[^\\s?#]*)?$',
    range: 'an http or https address',
    description: 'Service that `millrace workflows`, `millrace run ID` and `millrace logs` use.',
  }),
  apiKey: plainOptional(
    plainString({
      minLength: 1,
      secret: true,
      flag: 'key',
      description: 'API key that `millrace workflows`, `millrace run ID` and `millrace logs` use.',
    }),
  ),
}
