import { apiRequestOf } from '../import/core/api.ts'
import type { BlockToMap, MappedBlock } from '../import/mapping.ts'

/** Maps a request to a webhook of another service, which is always a POST request with JSON. */
export function mapWebhookRequest({ values }: BlockToMap): MappedBlock {
  const isSigned = values.peek('secret') !== undefined
  values.drop('secret')
  const params = { url: '', ...apiRequestOf(values), method: 'POST' }
  const signs =
    'In Sim, the block signed its requests with a secret. Here, it does not, so the receiver may reject them.'
  return { type: 'api', params, notes: isSigned ? [signs] : [] }
}
