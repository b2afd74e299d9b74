import { apiRequestOf } from '../import/core/api.ts'
import type { BlockToMap, MappedBlock } from '../import/mapping.ts'

/** A request to a webhook of another service: always a POST request with JSON. */
export function mapWebhookRequest({ values }: BlockToMap): MappedBlock {
  const isSigned = values.peek('secret') !== undefined
  values.drop('secret')
  const params = { url: '', ...apiRequestOf(values), method: 'POST' }
  const signs =
    'In Sim, it signed its requests with a secret. It does not do so here, and the receiver may reject them.'
  return { type: 'api', params, notes: isSigned ? [signs] : [] }
}
