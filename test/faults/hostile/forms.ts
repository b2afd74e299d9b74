import { block, document } from '../../support/make.ts'
import { deploy } from '../../support/running-service.ts'
import type { Attack, AttackRequest } from './attacks.ts'
import { admittedBodies, compressions, type PlainBody, sent, valueBombs } from './bodies.ts'

const MB = 1024 * 1024

/** The addresses of forms that anyone may send: one with texts, one with files, and an approval with files. */
export type OpenForms = { texts: string; files: string; approval: string }

const files = { name: 'papers', type: 'files' }
const texts = [
  { name: 'items', type: 'array', options: Array.from({ length: 200 }, (_, number) => `choice ${number}`) },
  { name: 'text', type: 'string', format: 'email' },
  { name: 'day', type: 'string', format: 'date' },
  { name: 'number', type: 'number' },
  { name: 'more', type: 'object' },
]

/** Deploys the forms, and starts a run that waits at its approval. */
export async function deployForms(url: string, apiKey: string): Promise<OpenForms> {
  const make = (path: string, params: object, steps: Parameters<typeof document>[0]['blocks'] = []) => {
    const blocks = [block('form', 'form_trigger', { path, title: path, ...params }), ...steps]
    const edges = steps.map(({ id }, index) => `${blocks[index]!.id} > ${id}`)
    return deploy(url, apiKey, document({ name: `form ${path}`, blocks, edges }))
  }
  const end = block('end', 'condition', { conditions: [{ id: 'yes', expression: '<form.number> > 3' }] })
  await make('texts', { fields: texts }, [end])
  await make('files', { fields: [...texts, files] }, [end])
  const ask = block('ask', 'approval', { title: 'Papers?', fields: [...texts, { ...files, required: true }] })
  await make('asks', { fields: [], respond: 'next' }, [ask])
  const asked = await fetch(`${url}/api/forms/asks`, { method: 'POST', body: '{}' })
  const { next } = (await asked.json()) as { next: string }
  const approval = `${url}/api/pauses/${next.slice(next.lastIndexOf('/') + 1)}`
  return { texts: `${url}/api/forms/texts`, files: `${url}/api/forms/files`, approval }
}

/** Sends bodies with many values or files to forms and approvals that anyone with the address may send. */
export function formAttacks(forms: OpenForms, isShort: boolean): Attack[] {
  const receivers = Object.entries(forms)
  const bombs = [...valueBombs(), ...(isShort ? [] : valueBombs(31 * MB))]
  const shown = isShort ? (['none', 'zstd'] as const) : compressions
  return [
    ...receivers.flatMap(([name, url]) =>
      bombs.flatMap((plain) => shown.map((compression) => attack(name, url, plain, compression, 4))),
    ),
    ...receivers.flatMap(([name, url]) =>
      admittedBodies({ values: 20_000, bytes: MB }).map((plain) => attack(name, url, plain, 'none', 4)),
    ),
    // Once the approval is answered, the service refuses every request; this must be cheap, too.
    ...[
      { url: forms.files, field: 'papers' },
      { url: forms.approval, field: 'fields.papers' },
    ].flatMap(({ url, field }) => [
      attack('files', url, fileParts('one file of 31 MB', field, 1, 31 * MB), 'none', 4),
      attack('files', url, fileParts('ten files of 3 MB', field, 10, 3 * MB), 'none', 8),
      attack('files', url, fileParts('a file for each of 40 fields', 'other', 40, 1_000), 'none', 4),
      attack('files', url, fileParts('900 empty files', 'other', 900, 0), 'none', 8),
      attack('files', url, fileItems('a file item of 20 MB', 1, 20 * MB), 'none', 4),
      attack('files', url, fileItems('ten file items without content', 10, 0), 'none', 4),
      attack('files', url, fileItems('300,000 file items', 300_000, 0), 'zstd', 4),
      attack('files', url, fileParts('one file of 31 MB of one letter', field, 1, 31 * MB), 'zstd', 4),
    ]),
    attack(
      'texts',
      forms.texts,
      json('an address of 900,000 letters', { text: `a@${'.a'.repeat(450_000)} ` }),
      'none',
      8,
    ),
    attack('texts', forms.texts, json('a number of 900,000 digits', { number: '1'.repeat(900_000) }), 'none', 8),
    attack('texts', forms.texts, json('JSON in a text', { more: `{"a":${'['.repeat(400_000)}` }), 'none', 8),
    attack('texts', forms.texts, json('wrong choices', { items: Array(19_000).fill('x') }), 'none', 8),
  ]
}

function attack(
  name: string,
  url: string,
  plain: PlainBody,
  compression: (typeof compressions)[number],
  atOnce: number,
): Attack {
  const { headers, bytes, name: shown } = sent(plain, compression)
  const request: AttackRequest = { url, headers, bytes }
  const at = url.includes('/pauses/') ? 'approval' : `form of ${name}`
  return { name: `${at}: ${shown}, ${atOnce} at once`, requests: Array(atOnce).fill(request) as AttackRequest[] }
}

function json(name: string, value: object): PlainBody {
  return { name, type: 'application/json', bytes: Buffer.from(JSON.stringify(value)) }
}

function fileParts(name: string, field: string, count: number, size: number): PlainBody {
  const content = Buffer.alloc(size, 'x')
  const parts = Array.from({ length: count }, (_, number) => {
    const disposition = `form-data; name="${field}"; filename="${number}.bin"`
    return Buffer.concat([
      Buffer.from(`--b\r\nContent-Disposition: ${disposition}\r\n\r\n`),
      content,
      Buffer.from('\r\n'),
    ])
  })
  const bytes = Buffer.concat([...parts, Buffer.from('--b--\r\n')])
  return { name, type: 'multipart/form-data; boundary=b', bytes }
}

function fileItems(name: string, count: number, size: number): PlainBody {
  const data = `data:text/plain;base64,${'QUFB'.repeat(Math.floor(size / 3))}`
  const papers = Array(count).fill({ type: 'file', name: 'a', data })
  return { name, type: 'application/json', bytes: Buffer.from(JSON.stringify({ papers, fields: { papers: [] } })) }
}
