import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { millrace, temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { deploy, init, type Serving, serve } from '../../support/running-service.ts'

// A backup reads the database and the files in the folder.
const onSqlite = { MILLRACE_SECRET_KEY: 'the-key-of-files-that-outlive-a-crash', MILLRACE_STORE: 'sqlite' }
const settings = { ...onSqlite, MILLRACE_PAUSE_IN_MEMORY_MS: '0' }

/** Deploys a form with files; its run asks for another file. */
async function deployForm(service: Serving, apiKey: string): Promise<void> {
  const files = { name: 'papers', type: 'files', required: true }
  const blocks = [
    block('form', 'form_trigger', { path: 'claim', title: 'Claim', fields: [files], respond: 'next' }),
    block('ask', 'approval', { title: 'Receipt?', fields: [files] }),
    block('end', 'function', { code: 'return [<form.papers[0]>, <ask.fields.papers[0]>]' }),
  ]
  await deploy(service.url, apiKey, document({ name: 'Claims', blocks, edges: ['form > ask', 'ask > end'] }))
}

function formWith(name: string, entries: Record<string, string> = {}): RequestInit {
  const body = new FormData()
  for (const [entry, value] of Object.entries(entries)) body.append(entry, value)
  body.append(name, new File([`content of ${name}`], `${name}.txt`, { type: 'text/plain' }), `${name}.txt`)
  return { method: 'POST', body }
}

/** Answers the approval with a file, and checks both files when the run has ended. */
async function expectFiles(service: Serving, apiKey: string, { executionId, link }: Record<string, string>) {
  const sent = formWith('fields.papers', { approved: 'true' })
  expect((await fetch(service.url + link, sent)).status).toBe(200)
  const headers = { 'x-api-key': apiKey }
  for (;;) {
    const response = await fetch(`${service.url}/api/jobs/${executionId}`, { headers })
    const job = (await response.json()) as { status: string; output: { result: { url: string }[] } }
    expect(['paused', 'queued', 'processing', 'completed']).toContain(job.status)
    if (job.status !== 'completed') {
      await Bun.sleep(20)
      continue
    }
    const contents = job.output.result.map(async ({ url }) => {
      const { pathname, search } = new URL(url)
      return await (await fetch(service.url + pathname + search)).text()
    })
    expect(await Promise.all(contents)).toEqual(['content of papers', 'content of fields.papers'])
    return
  }
}

test('the files of a paused run survive a crash and are in a restored backup', async () => {
  using folder = temporaryFolder()
  const [data = '', file = '', restored = ''] = ['data', 'backup.tar', 'restored'].map((name) =>
    join(folder.path, name),
  )
  const { apiKey } = await init(data, onSqlite)
  const first = await serve(data, settings)
  await deployForm(first, apiKey)
  const sent = await fetch(`${first.url}/api/forms/claim`, formWith('papers'))
  const { executionId, next } = (await sent.json()) as { executionId: string; next: string }
  const run = { executionId, link: new URL(next).pathname.replace('/pause/', '/api/pauses/') }
  await first.kill('SIGKILL')
  expect((await millrace(['backup', file, '--data', data], { environment: onSqlite })).code).toBe(0)
  const second = await serve(data, settings)
  await expectFiles(second, apiKey, run)
  await second.kill('SIGTERM')
  expect((await millrace(['restore', file, '--data', restored], { environment: onSqlite })).code).toBe(0)
  const third = await serve(restored, settings)
  await expectFiles(third, apiKey, run)
  await third.kill('SIGTERM')
}, 60_000)
