// Long because it constructs everything that the routes use.
import { SignInLinks } from '../accounts/sign-in-links.ts'
import type { Assistant } from '../assistant/assistant.ts'
import type { ScheduledBackups } from '../backup/scheduled-backups.ts'
import { registry } from '../blocks/registry.ts'
import { storeKindOf } from '../config.ts'
import type { Connectors } from '../connectors/connectors.ts'
import { createTestCredential } from '../credentials/test-credential.ts'
import { messageOf } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import type { RequestClaim } from '../domain/run/claim.ts'
import { readDocumentInSlices } from '../domain/workflow/document.ts'
import type { Address } from '../domain/workflow/trigger.ts'
import type { WorkflowDocument } from '../domain/workflow/workflow.ts'
import { giveParameters } from '../engine/compile/given-parameters.ts'
import { checkOf } from '../engine/compile/registrations.ts'
import type { JobRequest } from '../engine/jobs/jobs-options.ts'
import { runBlocks } from '../engine/jobs/run-progress.ts'
import type { Reach } from '../engine/manual/reachable-part.ts'
import type { RunRequest } from '../engine/run/run-request.ts'
import type { Entries } from '../entries/entries.ts'
import type { ExpectedRun, Watcher } from '../events/bus.ts'
import type { OpenFiles } from '../files/open.ts'
import { type HeldThing, Peers } from '../http/peers/peers.ts'
import type { InterfaceFiles } from '../http/responses/interface-files.ts'
import { findRunState } from '../http/responses/jobs.ts'
import type { PauseServices } from '../http/run-services.ts'
import type { ManualServices, Services } from '../http/services.ts'
import { UnsentResponses } from '../http/streams/unsent-responses.ts'
import { exportSimInSlices } from '../sim/export/export-sim.ts'
import { importSimInSlices } from '../sim/import/import-sim.ts'
import type { Accounts } from './accounts.ts'
import type { AlertParts } from './alerts.ts'
import type { Base } from './base.ts'
import { ConnectorImports } from './connector-imports.ts'
import type { CredentialParts } from './credentials.ts'
import type { Delivery } from './delivery.ts'
import { loaderOf } from './document-loader.ts'
import type { Engine } from './engine.ts'
import { type Bodies, bodiesOf } from './limits/body-limits.ts'
import { shownLimits } from './limits/shown-limits.ts'
import { mcpToolsOf } from './mcp-tools.ts'
import { pollServicesOf } from './triggers/poll-services.ts'
import type { Triggers } from './triggers/triggers.ts'

export type HttpServicesOptions = Base & {
  accounts: Accounts
  connectors: Connectors
  credentials: CredentialParts
  entries: Entries
  files: OpenFiles
  delivery: Delivery
  engine: Engine
  triggers: Triggers
  alerts: AlertParts
  assistant: Assistant | undefined
  backups: ScheduledBackups | undefined
  baseUrl(): string
  interfaceFiles(): Promise<InterfaceFiles>
}

/** Selects the parts of the assemblies that the HTTP interface uses. */
export function httpServicesOf(options: HttpServicesOptions): Services {
  const { accounts, connectors, credentials, files, delivery, engine, triggers, alerts, backups, ...base } = options
  const { config, store, clock, metrics, logger, priceOf, build, baseUrl } = base
  const { deployments, runner, jobs, secrets, work } = engine
  const bodies = bodiesOf(config, clock, base.garbage)
  const credentialFor = async (workspaceId: string, name: string) =>
    await credentials.credentialFor(workspaceId, name, await accounts.environments.of(workspaceId))
  const redactorOf = async (workspaceId: string) => (await accounts.environments.of(workspaceId)).redactor
  const unsent = new UnsentResponses({ memory: engine.runner.memory, clock })
  return {
    ...{ store, clock, metrics, logger, priceOf, files },
    lookUpKey: accounts.lookUpKey,
    mailer: base.mailer,
    signInLinks: new SignInLinks({
      ...{ store, mailer: base.mailer, clock, baseUrl },
      onFailure: (cause) => logger.warn('a sign-in link was not sent', { reason: messageOf(cause) }),
    }),
    oauth: accounts.oauth,
    sessions: accounts.sessions,
    limits: accounts.limits,
    environments: accounts.environments,
    redactorOf,
    entries: options.entries,
    connectors,
    assistant: options.assistant,
    choices: engine.choices,
    polls: pollServicesOf(options),
    mcpTools: mcpToolsOf({ mcp: engine.mcp, inSlices: base.slices.run, credentialFor, redactorOf }),
    connectorImports: new ConnectorImports(),
    loadDocument: loaderOf(engine.outbound.fetch),
    credentials: credentials.credentials,
    signIns: credentials.signIns,
    testCredential: createTestCredential({
      credentialFor,
      fetch: engine.outbound.fetch,
      prepare: credentials.prepare,
      connect: async (workspaceId, name, signal) =>
        (await engine.mail.login(workspaceId, name, signal)) ||
        (await engine.databases.test(workspaceId, name, await accounts.environments.of(workspaceId), signal)),
      redactorOf,
    }),
    deployments: {
      forget(workflowId) {
        deployments.forget(workflowId)
        triggers.changed(workflowId)
        alerts.evaluator.nudge()
        engine.limited.changed(workflowId)
      },
    },
    async readDocument(body, workspaceId) {
      work.assertRoom(workspaceId)
      return await work.run(workspaceId, readDocumentInSlices(body))
    },
    async importSim(file, workspaceId) {
      work.assertRoom(workspaceId)
      return await work.run(workspaceId, importSimInSlices(file))
    },
    async exportSim(document, workspaceId) {
      work.assertRoom(workspaceId)
      return await work.run(workspaceId, exportSimInSlices(document, new Date(clock.now()).toISOString()))
    },
    async completeDocument(sent, before, workspaceId) {
      const complete = giveParameters(sent, before, registry, newId)
      const { document, warnings } = await secrets.restored(complete, before, workspaceId)
      return { document: await secrets.sealed(document, workspaceId), warnings }
    },
    secrets,
    async checkWorkflow(document, workspaceId) {
      const opened = await secrets.opened(document, workspaceId)
      const compilation = await deployments.check(opened, workspaceId)
      const rows = compilation.environmentUses.length === 0 ? [] : await store.listEnvironment(workspaceId)
      const more = [
        ...(await credentials.findingsAbout(document, workspaceId)),
        ...(await connectors.findingsAbout(document, workspaceId)),
      ]
      return checkOf(compilation, clock.now(), new Set(rows.map(({ name }) => name)), more)
    },
    runner,
    jobs,
    inSlices: base.slices.run,
    startsOf: (workflowId) => {
      const { limiter } = engine.limited
      return { ...limiter.occupancyOf(workflowId), ...limiter.countsOf(workflowId) }
    },
    pauses: engine.pauses.commands,
    blocksOf: (executionId) =>
      runBlocks({ store, open: accounts.jobSeal.open, traceOf: (id) => runner.find(id)?.root }, executionId),
    runsOfDeleted: engine.pauses.ofDeleted,
    editors: engine.editors,
    manual: manualServicesOf(options),
    pins: engine.pins,
    tests: engine.tests,
    listeners: triggers.listeners,
    reruns: engine.reruns,
    peers: peersOf(options),
    runs: runServicesOf(options, bodies, unsent),
    unsent,
    outputOf: outputOf(options),
    installation: {
      build,
      startedAt: clock.now(),
      retention: { days: config.logRetentionDays, bytesMax: config.logRetentionBytes },
      limits: shownLimits(config),
      files: config.s3Bucket === undefined ? 'disk' : 's3',
    },
    backups: () => {
      const { backup: address, backupEvery: everyMs } = config
      return backups && address !== undefined ? { address, everyMs, ...backups.state } : undefined
    },
    subscriptions: delivery.subscriptions,
    deliveries: delivery.dispatcher.commands,
    sendTestDelivery: delivery.testDeliveries.run,
    sendTestAlert: delivery.testDeliveries.runAlert,
    alerts: alerts.alerts,
    interfaceFiles: base.interfaceFiles,
    isDraining: () => options.cluster.isDraining,
    writerHealth: () => ({ healthy: delivery.writer.healthy, waiting: delivery.writer.rowsWaiting }),
    settings: {
      body: bodies.body,
      bodyWithFiles: bodies.bodyWithFiles,
      documentBody: bodies.documentBody,
      largestBody: bodies.largest,
      document: config,
      baseUrl,
      shareFactor: config.shareFactor,
      store: storeKindOf(config),
      version: build.version,
    },
  }
}

function peersOf({ accounts, cluster, clock, engine, logger, triggers }: HttpServicesOptions): Peers {
  const { bus, editors, jobs, manualRuns, reruns, runner } = engine
  const holds = async ({ kind, id }: HeldThing): Promise<boolean> => {
    switch (kind) {
      case 'run': {
        if (bus.find(id) ?? runner.find(id)) return true
        const job = await jobs.find(id)
        return job !== undefined && !job.isElsewhere
      }
      case 'recent-run':
        return manualRuns.find(id) !== undefined
      case 'rerun':
        return reruns.find(id) !== undefined
      case 'rerun-of-workspace':
        return reruns.findRunning(id) !== undefined
      case 'listener':
        return triggers.listeners.find(id) !== undefined
      case 'editor': {
        const [workflowId = '', editorId = ''] = id.split(':')
        return editors.has(workflowId, editorId)
      }
    }
    // A later version may ask for other kinds.
    return false
  }
  const keys = () => accounts.box.derive('millrace peers', false)
  return new Peers({ others: () => cluster.peers, keys, holds, clock, logger })
}

function manualServicesOf({ accounts, files, delivery, engine }: HttpServicesOptions): ManualServices {
  const { deployments, manualRuns, bus, runner, secrets } = engine
  return {
    async compile(document: WorkflowDocument, workspaceId: string, reach: Reach) {
      const opened = await secrets.opened(document, workspaceId)
      const compilation = await deployments.checkReachable(opened, workspaceId, reach)
      accounts.environments.hide(workspaceId, compilation.plan?.writtenSecrets ?? [])
      return compilation
    },
    start(request) {
      delivery.writer.assertHealthy()
      return manualRuns.start(request)
    },
    find: (executionId) => manualRuns.find(executionId),
    secretsOf: async (workspaceId) => (await accounts.environments.of(workspaceId)).redactor,
    receiveFiles: files.receive,
    removeFiles: files.remove,
    inFlight: (executionId) => bus.find(executionId) ?? runner.find(executionId),
    watch: (executionId: string, watcher: Watcher, expected?: ExpectedRun) => bus.watch(executionId, watcher, expected),
    isAwaited: (executionId) => bus.awaiting(executionId) !== undefined,
    settle: (executionId, messages) => bus.settle(executionId, messages),
  }
}

function outputOf({ store, accounts }: HttpServicesOptions): Services['outputOf'] {
  return async (executionId) => {
    const sealed = await store.getJobOutput(executionId)
    return sealed && accounts.jobSeal.open(sealed, executionId)
  }
}

function runServicesOf(options: HttpServicesOptions, bodies: Bodies, unsent: UnsentResponses): Services['runs'] {
  const { config, store, clock, logger, accounts, files, delivery, engine, triggers } = options
  const { runner, jobs, deployments, addresses } = engine
  const { cancelOnDisconnect, streamBufferBytes } = config
  const starting = {
    clock,
    logger,
    limits: accounts.limits,
    settings: { ...bodies, cancelOnDisconnect, streamBufferBytes },
    execute: (request: RunRequest) => engine.limited.execution.execute(request),
    inSlices: options.slices.run,
    unsent,
    followTrace: options.traces?.follow,
    assertAccepting(workspaceId: string, visitor?: string) {
      runner.assertFree(workspaceId, visitor)
      delivery.writer.assertHealthy()
    },
    assertAcceptingJobs() {
      jobs.assertAccepting()
      delivery.writer.assertHealthy()
    },
  }
  const addressed = { at: (address: Address) => addresses.at(address), environmentOf: accounts.environments.of }
  const { receive: receiveFiles, receiveForm, remove: removeFiles } = files
  const pauses: PauseServices = {
    ...{ answers: engine.pauses.answers, limits: accounts.limits, store, clock },
    ...{ environmentOf: accounts.environments.of, logger, receiveFiles, receiveForm, settings: bodies },
    deploymentOf: (workflowId, version) => deployments.loadVersion(workflowId, version),
    readToken: (token) => engine.pauses.tokens.read(token),
    linksOf: (contextId) => engine.pauses.tokens.linksOf(contextId),
  }
  return {
    execute: {
      ...starting,
      deployments,
      receiveFiles,
      accept: (request) => jobs.accept(request),
      acceptOnce: (request, claim) => jobs.acceptOnce(request, claim),
      claimRunId: (executionId, at) => store.claimRunId(executionId, at),
      releaseRunId: (executionId) => store.releaseRunId(executionId),
      idempotency: {
        ...{ clock, inSlices: options.slices.run, underWay: new Set(), ...accounts.jobSeal },
        findHeldRequest: (workflowId, key, at) => store.findHeldRequest(workflowId, key, at),
        beginRequest: (request) => store.beginRequest(request),
        endRequest: (request) => store.endRequest(request),
        listRunPauses: (executionId) => store.listRunPauses(executionId),
      },
    },
    chats: {
      ...starting,
      ...addressed,
      receiveFiles,
      conversations: triggers.conversations,
      budget: accounts.chatBudget,
      findRun: (executionId) => findRunState({ runner, jobs, store, outputOf: outputOf(options) }, executionId),
    },
    webhooks: {
      ...starting,
      ...addressed,
      accept: (request: JobRequest, claim: RequestClaim | undefined) => jobs.acceptOnce(request, claim),
      findClaim: (workflowId, key, at) => store.findRequestClaim(workflowId, key, at),
      beginRequest: (request) => store.beginRequest(request),
      endRequest: (request) => store.endRequest(request),
      storeFile: files.power.store,
      removeFiles,
    },
    forms: {
      ...starting,
      ...addressed,
      ...{ receiveFiles, receiveForm, pauses },
      accept: (request: JobRequest) => jobs.accept(request),
    },
    pauses,
  }
}
