// Long because it lists every call of the port.
import type { Store } from '../store.ts'
import * as alerts from './alerts/alerts.ts'
import * as events from './alerts/evaluations.ts'
import { noteWorkflowChange } from './cluster/changes.ts'
import { endDebounce, joinDebounce } from './cluster/debounces.ts'
import * as orphans from './cluster/orphans.ts'
import * as processes from './cluster/processes.ts'
import * as requests from './cluster/requests.ts'
import { exchangeStarts } from './cluster/starts.ts'
import type { Sql } from './connection.ts'
import { changeEntries } from './entries/changes.ts'
import { getEntryBytes, listEntries, readEntries } from './entries/lists.ts'
import { cleanEntries } from './entries/upkeep.ts'
import { countLogs } from './logs/log-counts.ts'
import { queryLogs } from './logs/log-page.ts'
import { listWorkflowOverviews } from './logs/workflow-overviews.ts'
import * as polls from './polls/poll-rows.ts'
import * as connectors from './tables/connectors.ts'
import * as credentials from './tables/credentials.ts'
import * as deletedWorkflows from './tables/deleted-workflows.ts'
import * as deliveryLists from './tables/delivery-lists.ts'
import * as deployments from './tables/deployments.ts'
import * as drafts from './tables/drafts.ts'
import * as environment from './tables/environment.ts'
import * as installation from './tables/installation.ts'
import * as keys from './tables/keys.ts'
import { listModelUsage } from './tables/model-usage.ts'
import * as oauth from './tables/oauth.ts'
import * as pins from './tables/pins.ts'
import * as presence from './tables/presence.ts'
import * as rateWindows from './tables/rate-windows.ts'
import * as registrations from './tables/registrations.ts'
import * as runFiles from './tables/run-files.ts'
import * as sealedDocuments from './tables/sealed-documents.ts'
import * as sealedValues from './tables/sealed-values.ts'
import * as sessions from './tables/sessions.ts'
import * as subscriptions from './tables/subscriptions.ts'
import * as users from './tables/users.ts'
import { listFolders, pageWorkflows } from './tables/workflow-pages.ts'
import * as workflowTests from './tables/workflow-tests.ts'
import * as workflows from './tables/workflows.ts'
import * as workspaces from './tables/workspaces.ts'
import { measure } from './upkeep/measure.ts'
import { append } from './writes/append.ts'
import { listTurns } from './writes/chats.ts'
import * as claims from './writes/claims.ts'
import * as deliveries from './writes/deliveries.ts'
import * as jobs from './writes/jobs.ts'
import * as logs from './writes/logs.ts'
import { getOpenRun, listOpenRuns, listRecentSteps } from './writes/open-runs.ts'
import { countPausesByBlock } from './writes/pause-counts.ts'
import * as pauses from './writes/pauses.ts'

/** Members that concern the store itself, or this process. */
export type OwnMember =
  | ('retain' | 'probe' | 'close')
  | ('sequenceShare' | 'sharesStarts' | 'jobWindow' | 'checkIn' | 'announceKeys')
/** All calls that read or change rows. */
export type OperationName = Exclude<keyof Store, OwnMember>
export type Arguments<Name extends OperationName> = Parameters<Store[Name]>
export type Result<Name extends OperationName> = Awaited<ReturnType<Store[Name]>>

/**
 * The kind of a call. `read`: its statements see the latest commits, each for itself; a single one may also write.
 * `change`: a transaction that behaves as if no other ran at the same time, for everything that people change. `write`:
 * a transaction that locks the rows that it reads and then changes, for what runs and deliveries write all the time.
 */
export type Operation<Name extends OperationName> = {
  kind: 'read' | 'change' | 'write'
  run: (sql: Sql, ...args: Arguments<Name>) => Promise<Result<Name>>
}

export const operations: { readonly [Name in OperationName]: Operation<Name> } = {
  createInstallation: { kind: 'change', run: installation.createInstallation },
  isInitialised: { kind: 'read', run: installation.isInitialised },
  isUnseen: { kind: 'read', run: installation.isUnseen },
  renewInstallation: { kind: 'change', run: installation.renewInstallation },
  markInstallationSeen: { kind: 'change', run: installation.markInstallationSeen },

  createUser: { kind: 'change', run: users.createUser },
  listUsers: { kind: 'read', run: users.listUsers },
  findUser: { kind: 'read', run: users.findUser },
  setEmail: { kind: 'change', run: users.setEmail },
  setPassword: { kind: 'change', run: users.setPassword },
  setTier: { kind: 'change', run: users.setTier },

  findPassword: { kind: 'read', run: sessions.findPassword },
  findOwner: { kind: 'read', run: sessions.findOwner },
  createSession: { kind: 'change', run: sessions.createSession },
  findSession: { kind: 'read', run: sessions.findSession },
  renewSession: { kind: 'write', run: sessions.renewSession },
  endSession: { kind: 'change', run: sessions.endSession },
  endSessions: { kind: 'change', run: sessions.endSessions },
  createSignInToken: { kind: 'change', run: sessions.createSignInToken },
  redeemSignInToken: { kind: 'change', run: sessions.redeemSignInToken },

  createOAuthClient: { kind: 'change', run: oauth.createOAuthClient },
  findOAuthClient: { kind: 'read', run: oauth.findOAuthClient },
  createOAuthGrant: { kind: 'change', run: oauth.createOAuthGrant },
  exchangeOAuthToken: { kind: 'change', run: oauth.exchangeOAuthToken },
  findOAuthToken: { kind: 'read', run: oauth.findOAuthToken },
  findOAuthGrant: { kind: 'read', run: oauth.findOAuthGrant },
  listOAuthGrants: { kind: 'read', run: oauth.listOAuthGrants },
  endOAuthGrant: { kind: 'change', run: oauth.endOAuthGrant },
  revokeOAuthToken: { kind: 'change', run: oauth.revokeOAuthToken },
  deleteStaleOAuth: { kind: 'change', run: oauth.deleteStaleOAuth },
  recordOAuthUses: { kind: 'write', run: oauth.recordOAuthUses },

  findKey: { kind: 'read', run: keys.findKey },
  createKey: { kind: 'change', run: keys.createKey },
  listKeys: { kind: 'read', run: keys.listKeys },
  revokeKey: { kind: 'change', run: keys.revokeKey },
  recordKeyUses: { kind: 'write', run: keys.recordKeyUses },

  createWorkspace: { kind: 'change', run: workspaces.createWorkspace },
  listWorkspaces: { kind: 'read', run: workspaces.listWorkspaces },
  getWorkspace: { kind: 'read', run: workspaces.getWorkspace },
  renameWorkspace: { kind: 'change', run: workspaces.renameWorkspace },
  listMembers: { kind: 'read', run: workspaces.listMembers },
  setMember: { kind: 'change', run: workspaces.setMember },
  removeMember: { kind: 'change', run: workspaces.removeMember },

  saveRateWindows: { kind: 'write', run: rateWindows.saveRateWindows },
  listRateWindows: { kind: 'read', run: rateWindows.listRateWindows },

  listConnectors: { kind: 'read', run: connectors.listConnectors },
  getConnector: { kind: 'read', run: connectors.getConnector },
  putConnector: { kind: 'change', run: connectors.putConnector },
  deleteConnector: { kind: 'change', run: connectors.deleteConnector },
  listCredentials: { kind: 'read', run: credentials.listCredentials },
  getCredential: { kind: 'read', run: credentials.getCredential },
  createCredential: { kind: 'change', run: credentials.createCredential },
  updateCredential: { kind: 'change', run: credentials.updateCredential },
  deleteCredential: { kind: 'change', run: credentials.deleteCredential },
  takeCredentialLease: { kind: 'write', run: credentials.takeCredentialLease },
  saveCredentialToken: { kind: 'write', run: credentials.saveCredentialToken },
  endCredentialLease: { kind: 'write', run: credentials.endCredentialLease },
  noteCredentialUses: { kind: 'write', run: credentials.noteCredentialUses },
  listEnvironment: { kind: 'read', run: environment.listEnvironment },
  setVariable: { kind: 'change', run: environment.setVariable },
  unsetVariable: { kind: 'change', run: environment.unsetVariable },
  discardSealed: { kind: 'change', run: environment.discardSealed },
  listSealed: { kind: 'read', run: sealedValues.listSealed },
  readSealed: { kind: 'read', run: sealedValues.readSealed },
  replaceSealed: { kind: 'change', run: sealedValues.replaceSealed },
  sealHeads: { kind: 'read', run: environment.sealHeads },

  listWorkflowOverviews: { kind: 'read', run: listWorkflowOverviews },
  moveFolder: { kind: 'change', run: workflows.moveFolder },
  listDeletedWorkflows: { kind: 'read', run: deletedWorkflows.listDeletedWorkflows },
  findDeletedWorkflow: { kind: 'read', run: deletedWorkflows.findDeletedWorkflow },
  restoreWorkflow: ofWorkflow(deletedWorkflows.restoreWorkflow),
  listModelUsage: { kind: 'read', run: listModelUsage },

  createWorkflow: { kind: 'change', run: workflows.createWorkflow },
  updateWorkflow: { kind: 'change', run: workflows.updateWorkflow },
  getWorkflow: { kind: 'read', run: workflows.getWorkflow },
  listFolders: { kind: 'read', run: listFolders },
  pageWorkflows: { kind: 'read', run: pageWorkflows },
  listWorkflows: { kind: 'read', run: workflows.listWorkflows },
  listActiveVersions: { kind: 'read', run: workflows.listActiveVersions },
  deleteWorkflow: ofWorkflow(workflows.deleteWorkflow),

  listSubscriptions: { kind: 'read', run: subscriptions.listSubscriptions },
  getSubscriptions: { kind: 'read', run: subscriptions.getSubscriptions },
  createSubscription: ofWorkflow(subscriptions.createSubscription),
  changeSubscription: ofWorkflow(subscriptions.changeSubscription),
  deleteSubscription: ofWorkflow(subscriptions.deleteSubscription),

  deploy: ofWorkflow(deployments.deploy),
  undeploy: ofWorkflow(deployments.undeploy),
  activate: ofWorkflow(deployments.activate),
  describeDeployment: { kind: 'change', run: deployments.describeDeployment },
  listDeployments: { kind: 'read', run: deployments.listDeployments },
  getDeployment: { kind: 'read', run: deployments.getDeployment },
  getActive: { kind: 'read', run: deployments.getActive },
  getVersion: { kind: 'read', run: deployments.getVersion },
  keepDraft: { kind: 'change', run: drafts.keepDraft },
  getDocument: { kind: 'read', run: drafts.getDocument },

  sampleSealedDocuments: { kind: 'read', run: sealedDocuments.sampleSealedDocuments },
  listSealedDocuments: { kind: 'read', run: sealedDocuments.listSealedDocuments },
  readDocument: { kind: 'read', run: sealedDocuments.readDocument },
  replaceDocument: { kind: 'change', run: sealedDocuments.replaceDocument },

  listPins: { kind: 'read', run: pins.listPins },
  setPin: { kind: 'change', run: pins.setPin },
  deletePin: { kind: 'change', run: pins.deletePin },

  getTests: { kind: 'read', run: workflowTests.getTests },
  setTests: { kind: 'change', run: workflowTests.setTests },

  changeEntries: { kind: 'write', run: changeEntries },
  readEntries: { kind: 'read', run: readEntries },
  listEntries: { kind: 'read', run: listEntries },
  getEntryBytes: { kind: 'read', run: getEntryBytes },
  cleanEntries: { kind: 'write', run: cleanEntries },

  findAddress: { kind: 'read', run: registrations.findAddress },
  listDueSchedules: { kind: 'read', run: registrations.listDueSchedules },
  listWaitingSchedules: { kind: 'read', run: registrations.listWaitingSchedules },
  getSchedule: { kind: 'read', run: registrations.getSchedule },
  listDuePolls: { kind: 'read', run: polls.listDuePolls },
  listPollsOfKind: { kind: 'read', run: polls.listPollsOfKind },
  listPolls: { kind: 'read', run: polls.listPolls },
  makePollDue: ofWorkflow(polls.makePollDue),
  findSeen: { kind: 'read', run: polls.findSeen },
  notePolls: { kind: 'write', run: polls.notePolls },

  append: { kind: 'write', run: append },
  findRequestClaim: { kind: 'read', run: claims.findRequestClaim },
  claimRunId: { kind: 'write', run: claims.claimRunId },
  releaseRunId: { kind: 'write', run: claims.releaseRunId },
  findHeldRequest: { kind: 'read', run: claims.findHeldRequest },
  lastSequence: { kind: 'read', run: logs.lastSequence },
  queryLogs: { kind: 'read', run: queryLogs },
  countLogs: { kind: 'read', run: countLogs },
  getLog: { kind: 'read', run: logs.getLog },
  getExecution: { kind: 'read', run: logs.getExecution },

  getJob: { kind: 'read', run: jobs.getJob },
  findJob: { kind: 'read', run: jobs.findJob },
  getJobSteps: { kind: 'read', run: jobs.getJobSteps },
  claimQueuedJobs: { kind: 'write', run: jobs.claimQueuedJobs },
  claimInterruptedJobs: { kind: 'read', run: jobs.claimInterruptedJobs },
  listOpenRuns: { kind: 'read', run: listOpenRuns },
  getOpenRun: { kind: 'read', run: getOpenRun },
  listRecentSteps: { kind: 'read', run: listRecentSteps },
  listScheduledJobs: { kind: 'read', run: jobs.listScheduledJobs },
  parkJobs: { kind: 'write', run: jobs.parkJobs },
  getJobOutput: { kind: 'read', run: jobs.getJobOutput },

  listRunPauses: { kind: 'read', run: pauses.listRunPauses },
  listOpenPauses: { kind: 'read', run: pauses.listOpenPauses },
  listPauses: { kind: 'read', run: pauses.listPauses },
  countPauses: { kind: 'read', run: pauses.countPauses },
  listDeletedWithPauses: { kind: 'read', run: pauses.listDeletedWithPauses },
  countPausesByBlock: { kind: 'read', run: countPausesByBlock },
  getPause: { kind: 'read', run: pauses.getPause },
  endPause: { kind: 'write', run: pauses.endPause },
  extendPause: { kind: 'write', run: pauses.extendPause },
  endDuePauses: { kind: 'write', run: pauses.endDuePauses },

  endAttempts: { kind: 'write', run: deliveries.endAttempts },
  pendingSubscriptions: { kind: 'read', run: deliveries.pendingSubscriptions },
  nextDeliveries: { kind: 'read', run: deliveries.nextDeliveries },
  readDeliveries: { kind: 'read', run: deliveries.readDeliveries },
  listDeliveries: { kind: 'read', run: deliveryLists.listDeliveries },
  getDelivery: { kind: 'read', run: deliveryLists.getDelivery },
  listAttempts: { kind: 'read', run: deliveryLists.listAttempts },
  listRunWebhooks: { kind: 'read', run: deliveryLists.listRunWebhooks },
  sendAgain: { kind: 'write', run: deliveries.sendAgain },
  resendFailed: { kind: 'write', run: deliveryLists.resendFailed },
  cancelDelivery: { kind: 'write', run: deliveries.cancelDelivery },

  listAlerts: { kind: 'read', run: alerts.listAlerts },
  getAlert: { kind: 'read', run: alerts.getAlert },
  createAlert: { kind: 'change', run: alerts.createAlert },
  changeAlert: { kind: 'change', run: alerts.changeAlert },
  deleteAlert: { kind: 'change', run: alerts.deleteAlert },
  findAlerts: { kind: 'read', run: alerts.findAlerts },
  noteEvent: { kind: 'read', run: events.noteEvent },
  noteEventEverywhere: { kind: 'read', run: events.noteEventEverywhere },
  findAlertWork: { kind: 'read', run: events.findAlertWork },
  readAlertBatch: { kind: 'read', run: events.readAlertBatch },
  listEventStarts: { kind: 'read', run: events.listEventStarts },
  dropEventStart: { kind: 'read', run: events.dropEventStart },

  listTurns: { kind: 'read', run: listTurns },

  listGoneFiles: { kind: 'read', run: runFiles.listGoneFiles },
  forgetGoneFiles: { kind: 'write', run: runFiles.forgetGoneFiles },
  getFileUsage: { kind: 'read', run: runFiles.getFileUsage },

  getUsage: { kind: 'read', run: logs.getUsage },
  getChatCost: { kind: 'read', run: logs.getChatCost },

  announceEditor: { kind: 'write', run: presence.announceEditor },
  withdrawEditor: { kind: 'write', run: presence.withdrawEditor },
  noteDraft: { kind: 'write', run: presence.noteDraft },
  readPresence: { kind: 'read', run: presence.readPresence },

  measure: { kind: 'read', run: measure },

  listProcesses: { kind: 'read', run: processes.listProcesses },
  drainProcess: { kind: 'write', run: processes.drainProcess },
  adoptDeliveries: { kind: 'write', run: orphans.adoptDeliveries },
  releaseWork: { kind: 'write', run: orphans.releaseWork },
  beginRequest: { kind: 'read', run: requests.beginRequest },
  endRequest: { kind: 'read', run: requests.endRequest },
  joinDebounce: { kind: 'read', run: joinDebounce },
  endDebounce: { kind: 'read', run: endDebounce },
  exchangeStarts: { kind: 'write', run: exchangeStarts },
}

/** A change of a workflow that other processes may have in memory. */
function ofWorkflow<Rest extends unknown[], Result>(
  run: (sql: Sql, workflowId: string, ...rest: Rest) => Promise<Result>,
) {
  return {
    kind: 'change' as const,
    run: async (sql: Sql, workflowId: string, ...rest: Rest) => {
      const result = await run(sql, workflowId, ...rest)
      await noteWorkflowChange(sql, workflowId)
      return result
    },
  }
}
