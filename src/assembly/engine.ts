import { registry } from '../blocks/registry.ts'
import { ownProgram } from '../config.ts'
import { Choices } from '../connectors/choices.ts'
import type { Connectors } from '../connectors/connectors.ts'
import { DatabaseClients } from '../databases/databases.ts'
import { AppError } from '../domain/errors.ts'
import { responseBytesMax } from '../domain/limits.ts'
import { localHost } from '../domain/local-address.ts'
import { Addresses } from '../engine/addresses.ts'
import { CompileQueue } from '../engine/compile/compile-queue.ts'
import { type ActiveDeployment, Deployments } from '../engine/deployments.ts'
import { DocumentSecrets, type DocumentSecretsOptions } from '../engine/document-secrets.ts'
import { Jobs } from '../engine/jobs/jobs.ts'
import type { JobsOptions } from '../engine/jobs/jobs-options.ts'
import { ManualRuns } from '../engine/manual/manual-runs.ts'
import { Pins } from '../engine/manual/pins.ts'
import { Reruns } from '../engine/manual/reruns.ts'
import { Runner } from '../engine/run/runner.ts'
import type { RunnerOptions } from '../engine/run/runner-options.ts'
import type { Entries } from '../entries/entries.ts'
import { RunBus } from '../events/bus.ts'
import { EditorRooms } from '../events/editor-rooms.ts'
import type { OpenFiles } from '../files/open.ts'
import { Formats } from '../formats/formats.ts'
import { samplePath } from '../http/routes/sample.ts'
import { McpServers } from '../mcp/servers.ts'
import { createLanguageModels } from '../models/language-models.ts'
import { createOutbound } from '../outbound/fetch.ts'
import { Sandbox, warmAfterMs } from '../sandbox/sandbox.ts'
import type { Accounts } from './accounts.ts'
import type { Base } from './base.ts'
import type { CredentialParts } from './credentials.ts'
import type { Delivery } from './delivery.ts'
import { assembleStartLimits } from './limits/start-limits.ts'
import { assembleMail } from './mail.ts'
import { operationCallsOf } from './operation-calls.ts'
import { assemblePauses } from './pauses.ts'
import { stopAll } from './stop-all.ts'
import { PollCalls } from './triggers/poll-calls.ts'
import { assembleWorkflowTests } from './workflow-tests.ts'

/** Runs: compiled workflows, runs in flight, asynchronous and manual runs. */
export type Engine = ReturnType<typeof assembleEngine>

export type EngineOptions = Base & {
  accounts: Accounts
  connectors: Connectors
  credentials: CredentialParts
  delivery: Delivery
  entries: Entries
  files: OpenFiles
  baseUrl(): string
} & Required<Pick<JobsOptions, 'onChatEnded'>>

export function assembleEngine({
  accounts,
  connectors,
  credentials,
  delivery,
  entries,
  files,
  onChatEnded,
  ...base
}: EngineOptions) {
  const { config, limits, store, logger, clock, priceOf } = base
  const { environments, jobSeal } = accounts
  const { outbound, sandbox, mcpServers, formats, ...blockCapabilities } = capabilitiesOf({
    ...base,
    accounts,
    credentials,
  })
  const databases = new DatabaseClients({
    credentialOf: (workspaceId, name, { values }) => credentials.find(workspaceId, name, values),
    resolveTcp: outbound.resolveTcp,
    clock,
    sqlite: { allowed: config.sqliteFolders, data: config.data, program: ownProgram() },
    used: (credential, isAccepted) => credentials.used(credential, isAccepted ? 200 : 401),
  })
  const work = new CompileQueue({ slices: base.slices, shareFactor: config.shareFactor })
  const secrets = new DocumentSecrets({ registry, work, ...sealOf(accounts) })
  const deployments = new Deployments({
    ...{ registry, limits, priceOf, work, ...activeVersions({ store, accounts, delivery }) },
    openSecrets: (document, workspaceId) => secrets.opened(document, workspaceId),
    hideSecrets: environments.hide,
  })
  const mail = assembleMail({ ...base, credentials, outbound, environmentOf: environments.of })
  const runCapabilities: RunnerOptions['capabilities'] = {
    ...blockCapabilities,
    clock,
    random: Math.random,
    limits,
    priceOf,
    files: files.power,
    entries,
    connector: (workspaceId, id) => connectors.find(workspaceId, id),
    credential: credentials.credentialFor,
    sendMail: mail.sendMail,
    databases,
    note: base.note,
    ...(base.traces ? { traceHeadersOf: base.traces.headersOf } : {}),
  }
  const pauses = assemblePauses({ ...base, accounts, delivery, parts: () => ({ jobs, runner }) })
  const runner = new Runner({
    capabilities: runCapabilities,
    record: delivery.record,
    deploymentOf: (workflowId, pinned) =>
      pinned === undefined ? deployments.load(workflowId) : deployments.loadVersion(workflowId, pinned),
    environmentOf: environments.of,
    awaiting: (executionId) => bus.awaiting(executionId),
    ...pauses.ofRunner,
  })
  runner.memory.onFree((bytes) => base.garbage.note(bytes))
  const bus = new RunBus({
    observe: (executionId, observer) => runner.observe(executionId, observer),
    watchersMax: config.watchersMax,
    shareFactor: config.shareFactor,
  })
  const editors = new EditorRooms({
    ...{ store, clock },
    emailOf: async (userId) => (await store.findUser(userId))?.email ?? null,
    editorsMax: config.watchersMax,
    shareFactor: config.shareFactor,
    onFailure: (cause) => logger.warn('open editors could not be told about one another', { cause }),
  })
  const manualRuns = new ManualRuns({
    runner,
    observe: (run) => bus.open(run),
    bytesMax: config.manualRunsBytes,
    onLost: (executionId, cause) => logger.error('a manual run was not recorded', { executionId, cause }),
  })
  const pins = new Pins({
    list: (workflowId) => store.listPins(workflowId),
    set: (workflowId, pin) => store.setPin(workflowId, pin),
    delete: (workflowId, blockId) => store.deletePin(workflowId, blockId),
    ...sealOf(accounts),
    secretsOf: async (workspaceId) => (await environments.of(workspaceId)).redactor,
    inSlices: base.slices.run,
    now: () => clock.now(),
  })
  const tests = assembleWorkflowTests({ ...base, accounts, deployments, secrets, pins, capabilities: runCapabilities })
  const reruns = new Reruns({ clock, isInFlight: (executionId) => runner.find(executionId) !== undefined })
  const limited = assembleStartLimits({ ...base, deployments, runner, jobs: () => jobs })
  const jobs: Jobs = new Jobs({
    store,
    write: (write) => delivery.writer.write(write),
    inSlices: base.slices.run,
    record: (ended) => delivery.record(ended).then(() => bus.passed(ended)),
    ...jobSeal,
    runner,
    environmentOf: environments.of,
    deploymentOf: (workflowId, version) => deployments.loadVersion(workflowId, version),
    clock,
    concurrency: config.jobsConcurrency,
    waitingMax: config.jobsWaitingMax,
    window: store.jobWindow,
    mayStart: () => base.cluster.takesWork,
    timeoutMs: config.asyncTimeoutMs,
    limited: limited.ofJobs,
    // A workflow that nobody has started since the service started is not loaded, and counts as priority 0.
    priorityOf: (workflowId) => deployments.get(workflowId)?.plan?.limits.priority ?? 0,
    onPaused: pauses.onPaused,
    onChatEnded,
    pauseEvents: delivery.pauseEvents,
    onBug: (executionId, cause) => logger.error('job failed', { executionId, cause }),
  })
  const addresses = new Addresses({ find: (address) => store.findAddress(address), deployments })
  const open = () => {
    clock.setTimer(warmAfterMs, () => sandbox.warm())
    void jobs.open()
    pauses.due.look()
    pauses.ofDeleted.look()
  }
  const stop = (graceMs: number) =>
    stopAll(logger, [
      ['re-runs', () => reruns.stop()],
      ['asynchronous runs', () => jobs.close()],
      ['pauses', () => pauses.due.close()],
      ['runs of deleted workflows', () => pauses.ofDeleted.close()],
      ['waiting callers', () => limited.execution.stop()],
      ['runs', () => runner.stop(graceMs)],
      ['asynchronous runs', () => jobs.stop()],
      ['live events', () => bus.close()],
      ['open editors', () => editors.close()],
      ['sandbox', () => sandbox.stop()],
      ['mail', () => mail.stop()],
      ['sessions at MCP servers', () => mcpServers.stop()],
      ['documents', () => formats.stop()],
      ['databases', () => databases.stop()],
      ['connections', () => outbound.stop()],
    ])
  const call = operationCallsOf({ capabilities: runCapabilities, environmentOf: environments.of, limits, priceOf })
  const choices = new Choices({ connectors, call, clock })
  const pollCalls = new PollCalls({
    ...{ capabilities: runCapabilities, environmentOf: environments.of, limits, priceOf },
    deploymentOf: (workflowId, version) => deployments.loadVersion(workflowId, version),
  })
  const parts = {
    work,
    secrets,
    deployments,
    runner,
    bus,
    editors,
    manualRuns,
    pins,
    tests,
    reruns,
    jobs,
    limited,
    pauses,
    addresses,
    sandbox,
    pollCalls,
  }
  return { ...parts, choices, mail, outbound, databases, mcp: blockCapabilities.mcp, open, stop }
}

function sealOf({ box }: Accounts): Pick<DocumentSecretsOptions, 'seal' | 'open' | 'isCurrent'> {
  return {
    isCurrent: (sealed) => box.isCurrent(sealed),
    seal: (text, context) => box.sealAlike(text, context),
    open: (sealed, context) => box.openText(sealed, context),
  }
}

/** The capabilities of blocks outside the engine: requests to other services, language models, user code. */
function capabilitiesOf(base: Pick<EngineOptions, keyof Base | 'accounts' | 'credentials'>) {
  const { accounts, credentials, config, metrics, clock, outboundAllow, slices, build, port } = base
  const outbound = createOutbound({
    allow: outboundAllow,
    version: build.version,
    samples: { host: localHost(config.host), port, paths: [samplePath] },
    concurrency: {
      total: config.outboundConcurrency,
      perOrigin: config.outboundHostConcurrency,
      shareFactor: config.shareFactor,
    },
    clock,
  })
  const monotonic = () => clock.monotonic()
  const open = metrics.outbound.countingOpen(outbound.open, monotonic)
  const credentialFor = async (workspaceId: string, name: string) =>
    await credentials.credentialFor(workspaceId, name, await accounts.environments.of(workspaceId))
  const mcpServers = new McpServers({
    ...{ clock, clientVersion: build.version },
    ownAccess: (target, signal) => ({
      ...{ ...target, open, inSlices: slices.run, signal },
      authorization: async () => {
        if (target.credential === '') return undefined
        const found = await credentialFor(target.workspaceId, target.credential)
        // Without it, the server would not know whose session ends.
        if (!found) throw new AppError('CONFLICT', `The credential "${target.credential}" was deleted.`)
        return found
      },
    }),
  })
  const sandbox = new Sandbox({ shareFactor: config.shareFactor, inSlices: slices.run })
  const formats = new Formats({ clock, shareFactor: config.shareFactor, inSlices: slices.run })
  return {
    outbound,
    sandbox,
    formats,
    fetch: metrics.outbound.counting(outbound.fetch, monotonic),
    mcp: { open, connect: mcpServers.connect },
    mcpServers,
    models: createLanguageModels({ open, clock, responseBytesMax }),
    runProgram: sandbox.run,
    doFormatWork: formats.run,
    inSlices: slices.run,
  }
}

/**
 * Reads versions that are about to run, together with what the end of their runs needs: the owner, the subscriptions.
 */
function activeVersions({ store, accounts, delivery }: Pick<EngineOptions, 'store' | 'accounts' | 'delivery'>) {
  const read = async (workflowId: string, reading: Promise<ActiveDeployment | undefined>) => {
    delivery.subscriptions.preload(workflowId)
    const found = await reading
    if (found) accounts.usage.learnOwner(found.workspaceId, found.ownerId)
    return found
  }
  return {
    getActive: (workflowId: string) => read(workflowId, store.getActive(workflowId)),
    getVersion: (workflowId: string, version: number) => read(workflowId, store.getVersion(workflowId, version)),
  }
}
