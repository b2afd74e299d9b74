import { expect, test } from 'bun:test'
import { authorizationUrl } from '../../../src/credentials/oauth/sign-in-requests.ts'
import type { OpenCredential } from '../../../src/domain/credential/open-credential.ts'

const start = (page: string) => {
  const credential: OpenCredential = {
    ...{ id: 'id', workspaceId: 'w', name: 'mail', kind: 'oauth2_authorization_code', hosts: [], secrets: {} },
    ...{ state: 'untested', problem: null, updatedAt: 0, tokenVersion: 0 },
    fields: { authorizationUrl: page, tokenUrl: 'https://as.example/token', clientId: 'c' },
  }
  const request = { redirectUri: 'https://millrace.example.com/api/oauth/callback', state: () => 'the state' }
  const fetch = () => Promise.reject(new Error('Nothing is requested.'))
  return authorizationUrl(credential, request, { fetch, now: 0, signal: new AbortController().signal })
}

test('a person is sent to pages over https only, or on this machine', async () => {
  expect(await start('https://as.example/authorize?x=1')).toStartWith('https://as.example/authorize?x=1&')
  expect(await start('http://localhost:4000/authorize')).toStartWith('http://localhost:4000/authorize?')
  for (const page of ['javascript:alert(1)//', 'http://as.example/', 'data:text/html,x']) {
    await expect(start(page)).rejects.toMatchObject({ message: expect.stringContaining('over https') })
  }
})
