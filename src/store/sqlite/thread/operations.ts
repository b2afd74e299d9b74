import type { PresenceStore } from '../../presence-store.ts'
import type { ProcessStore } from '../../process-store.ts'
import type { Store } from '../../store.ts'
import * as alerts from '../alerts/alerts.ts'
import * as events from '../alerts/evaluations.ts'
import type { Sql } from '../connection.ts'
import { changeEntries } from '../entries/changes.ts'
import { getEntryBytes, listEntries, readEntries } from '../entries/lists.ts'
import { cleanEntries } from '../entries/upkeep.ts'
import { countLogs } from '../logs/log-counts.ts'
import { queryLogs } from '../logs/log-page.ts'
import { listWorkflowOverviews } from '../logs/workflow-overviews.ts'
import * as polls from '../polls/poll-rows.ts'
import * as connectors from '../tables/connectors.ts'
import * as credentials from '../tables/credentials.ts'
import * as deletedWorkflows from '../tables/deleted-workflows.ts'
import * as deliveryLists from '../tables/delivery-lists.ts'
import * as deployments from '../tables/deployments.ts'
import * as drafts from '../tables/drafts.ts'
import * as environment from '../tables/environment.ts'
import * as installation from '../tables/installation.ts'
import * as keys from '../tables/keys.ts'
import * as oauth from '../tables/oauth.ts'
import * as pins from '../tables/pins.ts'
import * as rateWindows from '../tables/rate-windows.ts'
import * as registrations from '../tables/registrations.ts'
import * as runFiles from '../tables/run-files.ts'
import * as sealedDocuments from '../tables/sealed-documents.ts'
import * as sealedValues from '../tables/sealed-values.ts'
import * as sessions from '../tables/sessions.ts'
import * as subscriptions from '../tables/subscriptions.ts'
import * as users from '../tables/users.ts'
import { listFolders, pageWorkflows } from '../tables/workflow-pages.ts'
import * as workflowTests from '../tables/workflow-tests.ts'
import * as workflows from '../tables/workflows.ts'
import * as workspaces from '../tables/workspaces.ts'
import { readDiskStats } from '../upkeep/disk-stats.ts'
import { append } from '../writes/append.ts'
import { listTurns } from '../writes/chats.ts'
import * as claims from '../writes/claims.ts'
import * as deliveries from '../writes/deliveries.ts'
import * as jobs from '../writes/jobs.ts'
import * as logs from '../writes/logs.ts'
import { listModelUsage } from '../writes/model-usage.ts'
import { getOpenRun, listOpenRuns } from '../writes/open-runs.ts'
import { countPausesByBlock } from '../writes/pause-counts.ts'
import { lastPauseEvent } from '../writes/pause-events.ts'
import * as pauses from '../writes/pauses.ts'

/**
 * Calls about the store itself: the executor has a method for each. Presence is not in the database, and only one
 * process serves it.
 */
export type OwnCall = 'retain' | 'probe' | 'close' | keyof PresenceStore | keyof ProcessStore
/** All other calls of the port. */
export type OperationName = Exclude<keyof Store, OwnCall>
export type Arguments<Name extends OperationName> = Parameters<Store[Name]>
export type Result<Name extends OperationName> = Awaited<ReturnType<Store[Name]>>

/**
 * The kind of a call. Writes run one after the other, each in a transaction; reads run concurrently. `flushed: false`:
 * a write that a power cut may undo. `searches`: a read that may take some milliseconds, or many where texts are long;
 * it runs in a thread of its own.
 */
export type Operation<Name extends OperationName> = {
  writes: boolean
  flushed?: false
  searches?: boolean
  run: (sql: Sql, ...args: Arguments<Name>) => Result<Name>
}

export const operations: { readonly [Name in OperationName]: Operation<Name> } = {
  createInstallation: { writes: true, run: installation.createInstallation },
  isInitialised: { writes: false, run: installation.isInitialised },
  isUnseen: { writes: false, run: installation.isUnseen },
  renewInstallation: { writes: true, run: installation.renewInstallation },
  markInstallationSeen: { writes: true, run: installation.markInstallationSeen },

  createUser: { writes: true, run: users.createUser },
  listUsers: { writes: false, run: users.listUsers },
  findUser: { writes: false, run: users.findUser },
  setEmail: { writes: true, run: users.setEmail },
  setPassword: { writes: true, run: users.setPassword },
  setTier: { writes: true, run: users.setTier },

  findPassword: { writes: false, run: sessions.findPassword },
  findOwner: { writes: false, run: sessions.findOwner },
  createSession: { writes: true, run: sessions.createSession },
  findSession: { writes: false, run: sessions.findSession },
  renewSession: { writes: true, run: sessions.renewSession },
  endSession: { writes: true, run: sessions.endSession },
  endSessions: { writes: true, run: sessions.endSessions },
  createSignInToken: { writes: true, run: sessions.createSignInToken },
  redeemSignInToken: { writes: true, run: sessions.redeemSignInToken },

  createOAuthClient: { writes: true, run: oauth.createOAuthClient },
  findOAuthClient: { writes: false, run: oauth.findOAuthClient },
  createOAuthGrant: { writes: true, run: oauth.createOAuthGrant },
  exchangeOAuthToken: { writes: true, run: oauth.exchangeOAuthToken },
  findOAuthToken: { writes: false, run: oauth.findOAuthToken },
  findOAuthGrant: { writes: false, run: oauth.findOAuthGrant },
  listOAuthGrants: { writes: false, run: oauth.listOAuthGrants },
  endOAuthGrant: { writes: true, run: oauth.endOAuthGrant },
  revokeOAuthToken: { writes: true, run: oauth.revokeOAuthToken },
  deleteStaleOAuth: { writes: true, run: oauth.deleteStaleOAuth },
  recordOAuthUses: { writes: true, run: oauth.recordOAuthUses },

  findKey: { writes: false, run: keys.findKey },
  createKey: { writes: true, run: keys.createKey },
  listKeys: { writes: false, run: keys.listKeys },
  revokeKey: { writes: true, run: keys.revokeKey },
  recordKeyUses: { writes: true, run: keys.recordKeyUses },

  createWorkspace: { writes: true, run: workspaces.createWorkspace },
  listWorkspaces: { writes: false, run: workspaces.listWorkspaces },
  getWorkspace: { writes: false, run: workspaces.getWorkspace },
  renameWorkspace: { writes: true, run: workspaces.renameWorkspace },
  listMembers: { writes: false, run: workspaces.listMembers },
  setMember: { writes: true, run: workspaces.setMember },
  removeMember: { writes: true, run: workspaces.removeMember },

  saveRateWindows: { writes: true, run: rateWindows.saveRateWindows },
  listRateWindows: { writes: false, run: rateWindows.listRateWindows },

  listConnectors: { writes: false, run: connectors.listConnectors },
  getConnector: { writes: false, run: connectors.getConnector },
  putConnector: { writes: true, run: connectors.putConnector },
  deleteConnector: { writes: true, run: connectors.deleteConnector },
  listCredentials: { writes: false, run: credentials.listCredentials },
  getCredential: { writes: false, run: credentials.getCredential },
  createCredential: { writes: true, run: credentials.createCredential },
  updateCredential: { writes: true, run: credentials.updateCredential },
  deleteCredential: { writes: true, run: credentials.deleteCredential },
  takeCredentialLease: { writes: true, run: credentials.takeCredentialLease },
  saveCredentialToken: { writes: true, run: credentials.saveCredentialToken },
  endCredentialLease: { writes: true, run: credentials.endCredentialLease },
  noteCredentialUses: { writes: true, flushed: false, run: credentials.noteCredentialUses },
  listEnvironment: { writes: false, run: environment.listEnvironment },
  setVariable: { writes: true, run: environment.setVariable },
  unsetVariable: { writes: true, run: environment.unsetVariable },
  discardSealed: { writes: true, run: environment.discardSealed },
  listSealed: { writes: false, searches: true, run: sealedValues.listSealed },
  readSealed: { writes: false, run: sealedValues.readSealed },
  replaceSealed: { writes: true, run: sealedValues.replaceSealed },
  sealHeads: { writes: false, run: environment.sealHeads },

  listWorkflowOverviews: { writes: false, searches: true, run: listWorkflowOverviews },
  moveFolder: { writes: true, run: workflows.moveFolder },
  listDeletedWorkflows: { writes: false, run: deletedWorkflows.listDeletedWorkflows },
  findDeletedWorkflow: { writes: false, run: deletedWorkflows.findDeletedWorkflow },
  restoreWorkflow: { writes: true, run: deletedWorkflows.restoreWorkflow },
  listModelUsage: { writes: false, run: listModelUsage },

  createWorkflow: { writes: true, run: workflows.createWorkflow },
  updateWorkflow: { writes: true, run: workflows.updateWorkflow },
  getWorkflow: { writes: false, run: workflows.getWorkflow },
  listFolders: { writes: false, searches: true, run: listFolders },
  pageWorkflows: { writes: false, searches: true, run: pageWorkflows },
  listWorkflows: { writes: false, run: workflows.listWorkflows },
  listActiveVersions: { writes: false, run: workflows.listActiveVersions },
  deleteWorkflow: { writes: true, run: workflows.deleteWorkflow },

  listSubscriptions: { writes: false, run: subscriptions.listSubscriptions },
  getSubscriptions: { writes: false, run: subscriptions.getSubscriptions },
  createSubscription: { writes: true, run: subscriptions.createSubscription },
  changeSubscription: { writes: true, run: subscriptions.changeSubscription },
  deleteSubscription: { writes: true, run: subscriptions.deleteSubscription },

  deploy: { writes: true, run: deployments.deploy },
  undeploy: { writes: true, run: deployments.undeploy },
  activate: { writes: true, run: deployments.activate },
  describeDeployment: { writes: true, run: deployments.describeDeployment },
  listDeployments: { writes: false, run: deployments.listDeployments },
  getDeployment: { writes: false, run: deployments.getDeployment },
  getActive: { writes: false, run: deployments.getActive },
  getVersion: { writes: false, run: deployments.getVersion },
  keepDraft: { writes: true, run: drafts.keepDraft },
  getDocument: { writes: false, run: drafts.getDocument },

  sampleSealedDocuments: { writes: false, run: sealedDocuments.sampleSealedDocuments },
  listSealedDocuments: { writes: false, run: sealedDocuments.listSealedDocuments },
  readDocument: { writes: false, run: sealedDocuments.readDocument },
  replaceDocument: { writes: true, run: sealedDocuments.replaceDocument },

  listPins: { writes: false, run: pins.listPins },
  setPin: { writes: true, run: pins.setPin },
  deletePin: { writes: true, run: pins.deletePin },

  getTests: { writes: false, run: workflowTests.getTests },
  setTests: { writes: true, run: workflowTests.setTests },

  changeEntries: { writes: true, run: changeEntries },
  readEntries: { writes: false, run: readEntries },
  listEntries: { writes: false, run: listEntries },
  getEntryBytes: { writes: false, run: getEntryBytes },
  cleanEntries: { writes: true, flushed: false, run: cleanEntries },

  findAddress: { writes: false, run: registrations.findAddress },
  listDueSchedules: { writes: false, run: registrations.listDueSchedules },
  listWaitingSchedules: { writes: false, run: registrations.listWaitingSchedules },
  getSchedule: { writes: false, run: registrations.getSchedule },
  listDuePolls: { writes: false, run: polls.listDuePolls },
  listPollsOfKind: { writes: false, run: polls.listPollsOfKind },
  listPolls: { writes: false, run: polls.listPolls },
  makePollDue: { writes: true, run: polls.makePollDue },
  findSeen: { writes: false, run: polls.findSeen },
  notePolls: { writes: true, flushed: false, run: polls.notePolls },

  append: { writes: true, run: append },
  findRequestClaim: { writes: false, run: claims.findRequestClaim },
  claimRunId: { writes: true, run: claims.claimRunId },
  releaseRunId: { writes: true, run: claims.releaseRunId },
  findHeldRequest: { writes: false, run: claims.findHeldRequest },
  lastSequence: {
    writes: false,
    run: (sql) => Math.max(logs.lastSequence(sql), lastPauseEvent(sql), events.lastFiring(sql)),
  },
  queryLogs: { writes: false, searches: true, run: queryLogs },
  countLogs: { writes: false, searches: true, run: countLogs },
  getLog: { writes: false, searches: true, run: logs.getLog },
  getExecution: { writes: false, searches: true, run: logs.getExecution },

  getJob: { writes: false, run: jobs.getJob },
  findJob: { writes: false, run: jobs.findJob },
  getJobSteps: { writes: false, run: jobs.getJobSteps },
  claimQueuedJobs: { writes: false, run: jobs.claimQueuedJobs },
  claimInterruptedJobs: { writes: false, run: jobs.claimInterruptedJobs },
  listOpenRuns: { writes: false, run: listOpenRuns },
  getOpenRun: { writes: false, run: getOpenRun },
  listRecentSteps: { writes: false, run: jobs.listRecentSteps },
  listScheduledJobs: { writes: false, run: jobs.listScheduledJobs },
  parkJobs: { writes: true, run: jobs.parkJobs },
  getJobOutput: { writes: false, run: jobs.getJobOutput },

  listRunPauses: { writes: false, run: pauses.listRunPauses },
  listOpenPauses: { writes: false, run: pauses.listOpenPauses },
  listPauses: { writes: false, run: pauses.listPauses },
  countPauses: { writes: false, run: pauses.countPauses },
  listDeletedWithPauses: { writes: false, run: pauses.listDeletedWithPauses },
  countPausesByBlock: { writes: false, run: countPausesByBlock },
  getPause: { writes: false, run: pauses.getPause },
  endPause: { writes: true, run: pauses.endPause },
  extendPause: { writes: true, run: pauses.extendPause },
  endDuePauses: { writes: true, run: pauses.endDuePauses },

  endAttempts: { writes: true, flushed: false, run: deliveries.endAttempts },
  pendingSubscriptions: { writes: false, run: deliveries.pendingSubscriptions },
  nextDeliveries: { writes: false, run: deliveries.nextDeliveries },
  readDeliveries: { writes: false, run: deliveries.readDeliveries },
  listDeliveries: { writes: false, searches: true, run: deliveryLists.listDeliveries },
  getDelivery: { writes: false, run: deliveryLists.getDelivery },
  listAttempts: { writes: false, run: deliveryLists.listAttempts },
  listRunWebhooks: { writes: false, run: deliveryLists.listRunWebhooks },
  sendAgain: { writes: true, run: deliveries.sendAgain },
  resendFailed: { writes: true, run: deliveryLists.resendFailed },
  cancelDelivery: { writes: true, run: deliveries.cancelDelivery },

  listAlerts: { writes: false, run: alerts.listAlerts },
  getAlert: { writes: false, run: alerts.getAlert },
  createAlert: { writes: true, run: alerts.createAlert },
  changeAlert: { writes: true, run: alerts.changeAlert },
  deleteAlert: { writes: true, run: alerts.deleteAlert },
  findAlerts: { writes: false, run: alerts.findAlerts },
  noteEvent: { writes: true, run: events.noteEvent },
  noteEventEverywhere: { writes: true, run: events.noteEventEverywhere },
  findAlertWork: { writes: false, run: events.findAlertWork },
  readAlertBatch: { writes: false, searches: true, run: events.readAlertBatch },
  listEventStarts: { writes: false, run: events.listEventStarts },
  dropEventStart: { writes: true, run: events.dropEventStart },

  listTurns: { writes: false, run: listTurns },

  listGoneFiles: { writes: false, run: runFiles.listGoneFiles },
  forgetGoneFiles: { writes: true, run: runFiles.forgetGoneFiles },
  getFileUsage: { writes: false, searches: true, run: runFiles.getFileUsage },

  getUsage: { writes: false, run: logs.getUsage },
  getChatCost: { writes: false, searches: true, run: logs.getChatCost },

  measure: { writes: false, run: readDiskStats },
}

export const operationNames = Object.keys(operations) as readonly OperationName[]

/** Runs one operation in the thread that has the database. */
export type Call = <Name extends OperationName>(name: Name, args: Arguments<Name>) => Promise<Result<Name>>

/** Builds the port from one function that runs operations. */
export function storeOf(call: Call, rest: Pick<Store, OwnCall>): Store {
  const methods = operationNames.map((name) => [name, (...args: Arguments<typeof name>) => call(name, args)] as const)
  return { ...(Object.fromEntries(methods) as unknown as Omit<Store, OwnCall>), ...rest }
}
