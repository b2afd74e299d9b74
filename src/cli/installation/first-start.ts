import sample from '../../../samples/first.json'
import type { App } from '../../app.ts'
import { newId } from '../../domain/ids.ts'
import { localAddress } from '../../domain/local-address.ts'
import { readDocument } from '../../domain/workflow/document.ts'
import type { WorkflowDocument } from '../../domain/workflow/workflow.ts'
import { createInstallation, type NewInstallation, renewInstallation } from './installation.ts'

export type FirstStart = NewInstallation & {
  /** A command line that runs the sample; undefined when there is none. */
  curl: string | undefined
}

/**
 * Creates the installation and deploys the sample workflow. If an earlier first start was interrupted before it could
 * show its key, this completes it. Undefined, without changes, when an installation exists. After the result was shown,
 * the caller must call `store.markInstallationSeen`.
 */
export async function firstStart({ store, address }: Pick<App, 'store' | 'address'>): Promise<FirstStart | undefined> {
  // Use the local address: a proxy for the public address may not be set up yet, or the address rules may refuse it.
  const local = localAddress(address.hostname, address.port)
  if (await store.isInitialised()) {
    if (!(await store.isUnseen())) return undefined
    const renewed = await renewInstallation(store, Date.now(), sampleDocument(local))
    if (!renewed) return undefined
    const { sampleId, apiKey } = renewed
    return { ...renewed, curl: sampleId === null ? undefined : curlOf(local, sampleId, apiKey) }
  }
  const id = newId()
  const made = await createInstallation(store, Date.now(), { id, document: sampleDocument(local) })
  return made && { ...made, curl: curlOf(local, id, made.apiKey) }
}

/** The sample workflow, which calls the service at its actual address. */
function sampleDocument(url: string): WorkflowDocument {
  const text = JSON.stringify(sample).replaceAll('http://127.0.0.1:3000', url)
  const reading = readDocument(JSON.parse(text))
  if ('details' in reading) throw new Error(`The sample workflow is broken: ${JSON.stringify(reading.details)}`)
  return reading.document
}

function curlOf(url: string, workflowId: string, apiKey: string): string {
  return [
    `curl -sS -X POST '${url}/api/workflows/${workflowId}/execute'`,
    `-H 'X-API-Key: ${apiKey}'`,
    "-H 'Content-Type: application/json'",
    `-d '{"name":"Ada","tag":"work"}'`,
  ].join(' ')
}
