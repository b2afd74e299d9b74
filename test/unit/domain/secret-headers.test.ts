import { expect, test } from 'bun:test'
import { isSecretHeader } from '../../../src/domain/secret-headers.ts'

test.each([
  ...['Authorization', 'proxy-authorization', 'Cookie', 'X-API-Key', 'apikey', 'X-Goog-Api-Key', 'PRIVATE-TOKEN'],
  ...[
    'X-Vault-Token',
    'Ocp-Apim-Subscription-Key',
    'X-Functions-Key',
    'X-Auth-Key',
    'Circle-Token',
    'Token',
    'X-Secret',
  ],
  ...[
    'DD-APPLICATION-KEY',
    'x-client-secret',
    'X-Rundeck-Auth',
    'X-Shopify-Access-Token',
    ' x_api_key ',
    'X-Signature',
  ],
])('the header %s carries a credential', (name) => expect(isSecretHeader(name)).toBe(true))

test.each([
  ...['Accept', 'Content-Type', 'User-Agent', 'Idempotency-Key', 'X-Request-Id', 'X-Token-Type', 'Keep-Alive', ''],
  ...['If-Match', 'X-Monkey', 'Cache-Control'],
])('the header "%s" carries none', (name) => expect(isSecretHeader(name)).toBe(false))
