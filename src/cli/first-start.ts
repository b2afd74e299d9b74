import sample from '../../samples/first.json'
import type { App } from '../app.ts'
import { readDocument } from '../domain/document.ts'
import { newId } from '../domain/ids.ts'
import { localAddress } from '../domain/local-address.ts'
import type { WorkflowDocument } from '../domain/workflow.ts'
import { createInstallation, type NewInstallation, renewInstallation } from './installation.ts'

export type FirstStart = NewInstallation & {
  /** A command line that runs the sample; undefined when there is none. */
  curl: string | undefined
}

/**
 * Makes the installation and deploys the sample workflow; or ends what an earlier first start has begun, when that was cut
 * before anybody could read what it made. Undefined, and nothing changed, when there is an installation already. When what
 * it gives was shown, `store.markInstallationSeen` has to be told.
 */
export async function firstStart({ store, address }: Pick<App, 'store' | 'address'>): Promise<FirstStart | undefined> {
  // The public address may lead through a proxy that is not there yet, and is none that the address rules let through.
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

/** The sample, calling the service at the address that it really has. */
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
