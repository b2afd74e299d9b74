import type { WorkflowDocument } from '../domain/workflow.ts'

/** A document as it is answered: secrets of its webhooks are never given back. */
export function withoutSecrets(document: WorkflowDocument): WorkflowDocument {
  if (!document.webhooks?.some((webhook) => 'secret' in webhook)) return document
  return { ...document, webhooks: document.webhooks.map(({ secret: _secret, ...webhook }) => webhook) }
}

/**
 * A document as it is stored: since nobody gets a secret back, a webhook that comes without one keeps the stored one of
 * its `id`; null removes it. A webhook without an `id` gets one, by which it is known from then on.
 */
export function keepSecrets(document: WorkflowDocument, stored: WorkflowDocument | undefined): WorkflowDocument {
  if (!document.webhooks) return document
  const secrets = new Map(stored?.webhooks?.map(({ id, secret }) => [id, secret]))
  const webhooks = document.webhooks.map((webhook) => {
    const { secret = secrets.get(webhook['id']), ...rest } = webhook
    const kept = secret === undefined || secret === null ? rest : { ...rest, secret }
    return typeof webhook['id'] === 'string' ? kept : { ...kept, id: crypto.randomUUID() }
  })
  return { ...document, webhooks }
}
