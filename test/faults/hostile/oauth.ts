import type { Attack, AttackRequest } from './attacks.ts'
import { sent, valueBombs } from './bodies.ts'
import type { Target } from './target.ts'

/** Requests to the authorization server, which strangers can reach. */
export function oauthAttacks({ url }: Target): Attack[] {
  const post = (path: string, text: string): AttackRequest => ({
    url: `${url}${path}`,
    method: 'POST',
    headers: {},
    bytes: Buffer.from(text),
  })
  const register = (body: object) => post('/oauth/register', JSON.stringify(body))
  const long = 'x'.repeat(30_000)
  const code = `mrc_${'a'.repeat(22)}.${'b'.repeat(54)}`
  const exchange = (more: string) => post('/oauth/token', `grant_type=authorization_code&client_id=x&${more}`)
  return [
    ...valueBombs().map((plain): Attack => {
      const { bytes, headers } = sent(plain, 'zstd')
      const request = { url: `${url}/oauth/register`, method: 'POST', headers, bytes }
      return { name: `oauth registration of ${plain.name}, 4 at once`, requests: Array(4).fill(request) }
    }),
    {
      name: 'oauth registrations that do not fit',
      requests: [
        ...['', 'null', '[]', '{', '{"redirect_uris":{}}', '{"redirect_uris":[{}]}'].map((text) =>
          post('/oauth/register', text),
        ),
        register({ redirect_uris: Array(3_000).fill('a:/b') }),
        register({ redirect_uris: [`https://x.example/${long}`] }),
        register({ redirect_uris: ['javascript:/alert', 'https://u:p@x.example/', 'http://x.example/', 'a:b'] }),
        register({ redirect_uris: ['https://x.example/'], client_name: '\u202e'.repeat(5_000) }),
        post('/oauth/register', `{"client_name":"${'x'.repeat(1_000_000)}"}`),
      ],
    },
    {
      name: 'oauth registrations without end',
      requests: Array(500).fill(register({ redirect_uris: ['https://x.example/'], client_name: long.slice(0, 1_000) })),
      atOnce: 50,
    },
    {
      name: 'oauth forms that do not fit',
      requests: [
        exchange('a=b&'.repeat(7_000)),
        exchange(`code=${long}`),
        exchange(`code=${code}&code=${code}`),
        exchange(`code=${'%'.repeat(20_000)}`),
        post('/oauth/token', 'x'.repeat(1_000_000)),
        post('/oauth/revoke', `client_id=${long}`),
        post('/oauth/revoke', `client_id=x&token=${code}`),
      ],
    },
    {
      name: 'oauth codes and tokens that are guessed',
      requests: Array(500).fill(
        exchange(`code=${code}&code_verifier=${'v'.repeat(43)}&redirect_uri=https%3A%2F%2Fx.example%2F`),
      ),
      atOnce: 50,
    },
    {
      name: 'oauth access tokens that are guessed at the MCP server',
      requests: Array.from({ length: 500 }, (_, n) => ({
        ...post('/mcp', '{"jsonrpc":"2.0","id":1,"method":"ping"}'),
        headers: { authorization: `Bearer mra_${String(n).padStart(54, 'x')}` },
      })),
      atOnce: 50,
    },
  ]
}
