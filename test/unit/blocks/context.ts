import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Value } from '@sinclair/typebox/value'
import { systemClock } from '../../../src/domain/clock.ts'
import type { EntryScopeName } from '../../../src/domain/entry/entry.ts'
import { MemoryEntries } from '../../../src/domain/entry/memory-entries.ts'
import { newId } from '../../../src/domain/ids.ts'
import { defaultLimits } from '../../../src/domain/limits.ts'
import { type FileStore, fileKey, type LocalFile } from '../../../src/domain/run/file.ts'
import type { Span, SpanAttempt } from '../../../src/domain/run/log.ts'
import { finish, type InSlices } from '../../../src/domain/slices.ts'
import type { BlockContext, BlockDefinition, BlockEntries, BlockResult } from '../../../src/engine/block.ts'
import { RunFiles } from '../../../src/engine/run/run-files.ts'
import { McpServers } from '../../../src/mcp/servers.ts'
import { outboundOf } from '../../support/outbound/peers.ts'

/** A context that records what the block passes to it. */
export type TestContext = BlockContext &
  Disposable & { readonly notes: { attempts: readonly SpanAttempt[]; children: Span[] }; readonly chunks: string[] }

const finishAtOnce: InSlices = async (slices) => finish(slices)

/**
 * A context for tests of a single block: real requests to loopback and the real clock. Other capabilities throw until a
 * test replaces them.
 */
export function makeContext(overrides: Partial<BlockContext> = {}, outbound = outboundOf(['loopback'])): TestContext {
  const { signal } = new AbortController()
  const access = { authorization: async () => undefined, open: outbound.open, inSlices: finishAtOnce }
  const mcpServers = new McpServers({
    ...{ clock: systemClock, clientVersion: '0' },
    ownAccess: (target, until) => ({ ...target, ...access, signal: until }),
  })
  const notes: { attempts: readonly SpanAttempt[]; children: Span[] } = { attempts: [], children: [] }
  const chunks: string[] = []
  return {
    block: { id: 'b1', name: 'Block 1', type: 'test' },
    run: { executionId: 'e1', workflowId: 'w1', workspaceId: 's1', trigger: 'manual' },
    signal,
    clock: systemClock,
    random: () => 0.5,
    limits: defaultLimits,
    input: { input: {}, fields: {} },
    fetch: outbound.fetch,
    holdMemory: () => ({ add: () => undefined, end: () => undefined }),
    credential: () => Promise.reject(new Error('This test gave its block no credentials')),
    inSlices: finishAtOnce,
    sendMail: () => Promise.reject(new Error('This test gave its block no mail server')),
    connector: () => Promise.reject(new Error('This test gave its block no connectors')),
    mcp: (url, credential) =>
      mcpServers.connect({
        ...{ url, credential, workspaceId: 's1', ...access, signal: overrides.signal ?? signal },
      }),
    sql: () => Promise.reject(new Error('This test gave its block no databases')),
    redis: () => Promise.reject(new Error('This test gave its block no databases')),
    runProgram: () => Promise.reject(new Error('This test gave its block no sandbox')),
    doFormatWork: () => Promise.reject(new Error('This test gave its block no workers')),
    runWorkflow: () => Promise.reject(new Error('This test gave its block no other workflows')),
    waitUntil: async (until) => {
      const since = Date.now()
      await Bun.sleep(Math.max(0, until - since))
      return since
    },
    pause: () => Promise.reject(new Error('This test gave its block no pauses')),
    keep: () => Promise.resolve(),
    kept: () => undefined,
    lead: () => undefined,
    repeat: () => undefined,
    idempotencyKey: () => 'key-of-b1',
    models: {
      call: () => Promise.reject(new Error('This test gave its block no models')),
      checkJson: () => Promise.reject(new Error('This test gave its block no models')),
    },
    priceOf: () => undefined,
    spend: () => Promise.resolve(),
    part: () => {
      throw new Error('This test gave its block no parts')
    },
    describeWorkflow: () => Promise.reject(new Error('This test gave its block no other workflows')),
    note({ attempts, children }) {
      if (attempts) notes.attempts = attempts
      if (children) notes.children.push(...children)
    },
    chunk: (text) => void chunks.push(text),
    agentEvent: () => undefined,
    files: new RunFiles({ workspaceId: 's1', workflowId: 'w1', executionId: 'e1' }, memoryFiles()),
    entries: entriesInMemory(),
    variables: new Map(),
    label: () => undefined,
    body: undefined,
    ...overrides,
    notes,
    chunks,
    [Symbol.dispose]: () => outbound.stop(),
  }
}

/** The entries of a workflow and a workspace in memory. */
export function entriesInMemory(now = () => Date.now()): BlockEntries {
  const memory = new MemoryEntries()
  const scopeOf = (scope: EntryScopeName) => ({ workspaceId: 's1', workflowId: scope === 'workflow' ? 'w1' : null })
  return {
    read: (scope, key) => memory.read({ ...scopeOf(scope), key, now: now() }),
    list: (scope, query) => memory.list({ ...scopeOf(scope), ...query, now: now() }),
    change: (scope, key, change) => memory.change({ ...scopeOf(scope), key, change, now: now() }),
  }
}

async function localFile(content: Uint8Array): Promise<LocalFile> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-file-'))
  const path = join(folder, 'file')
  await writeFile(path, content)
  return { path, size: content.length, close: () => rm(folder, { recursive: true }) }
}

/** Stores files in memory. */
function memoryFiles(): FileStore {
  const kept = new Map<string, Blob>()
  const store: FileStore['store'] = async (owner, content, { name, type }) => {
    const key = fileKey(owner, newId(), name)
    kept.set(key, new Blob([content.slice()]))
    const at = new Date(0).toISOString()
    const file = { url: `https://files.test/${key}`, name, size: content.length, type, uploadedAt: at, expiresAt: at }
    return { key, file }
  }
  return {
    store,
    read: async (key) => kept.get(key),
    async open(key) {
      const content = kept.get(key)
      return content && (await localFile(new Uint8Array(await content.arrayBuffer())))
    },
    hold: localFile,
    async drafts(owner) {
      const folder = await mkdtemp(join(tmpdir(), 'millrace-drafts-'))
      return {
        folder,
        async keep(path, { name, size, type }) {
          const content = await readFile(path)
          if (content.length !== size) throw new Error(`The file has ${content.length} bytes, not ${size}`)
          return await store(owner, content, { name, type })
        },
        discard: () => rm(folder, { recursive: true }),
      }
    },
  }
}

/**
 * Runs a block with parameters whose references are filled in: applies defaults and checks them against the schema.
 */
export async function runBlock(
  definition: BlockDefinition,
  given: Record<string, unknown>,
  context: BlockContext,
): Promise<BlockResult> {
  const params = Value.Default(definition.parameters, structuredClone(given)) as Record<string, unknown>
  const [invalid] = [...Value.Errors(definition.parameters, params)]
  if (invalid) throw new Error(`The parameters do not fit at ${invalid.path}: ${invalid.message}`)
  return await definition.run(params, context)
}
