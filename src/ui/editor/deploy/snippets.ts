import { shellText } from '../../parts/shell-text.ts'
import type { ExampleRequest } from '../document/example-input.ts'

export const languages = ['curl', 'TypeScript', 'Python'] as const
export type Language = (typeof languages)[number]
export type CallMode = 'plain' | 'streaming' | 'asynchronous'

export const callModes: readonly { value: CallMode; label: string; description: string }[] = [
  {
    value: 'plain',
    label: 'Synchronous',
    description: 'The response arrives after the run has ended and been recorded.',
  },
  {
    value: 'streaming',
    label: 'Streaming',
    description: 'Text arrives as it is generated, as server-sent events. The last event contains the whole result.',
  },
  {
    value: 'asynchronous',
    label: 'Asynchronous',
    description: 'The run is queued immediately and survives a restart of the service. Poll for its result.',
  },
]

export type SnippetFacts = {
  language: Language
  mode: CallMode
  url: string
  origin: string
  input: Record<string, unknown>
  /** For streaming: the block outputs to stream. */
  outputs: readonly string[]
  /** Whether a Response block defines the body of the synchronous response. */
  hasResponse: boolean
}

/** Code that calls the endpoint. The caller only has to provide an API key. */
export function snippet(facts: SnippetFacts): string {
  const { mode, input, outputs } = facts
  const selected = outputs.length > 0 ? { selectedOutputs: outputs } : {}
  const body = mode === 'streaming' ? { ...input, stream: true, ...selected } : input
  if (facts.language === 'curl') return curl(facts, body)
  return facts.language === 'TypeScript' ? typeScript(facts, body) : python(facts, body)
}

function curl({ mode, url }: SnippetFacts, body: object): string {
  return [
    `curl -sS${mode === 'streaming' ? 'N' : ''} -X POST ${shellText(url)} \\`,
    "  -H 'X-API-Key: YOUR_API_KEY' \\",
    "  -H 'Content-Type: application/json' \\",
    ...(mode === 'asynchronous' ? ["  -H 'X-Execution-Mode: async' \\"] : []),
    `  -d ${shellText(JSON.stringify(body))}`,
  ].join('\n')
}

/** A shell command that sends a request to a webhook trigger with the given parameters. */
export function webhookLine(
  { method, url, body }: ExampleRequest,
  { authentication }: Record<string, unknown>,
): string {
  const { type, name } = (authentication ?? {}) as Record<string, unknown>
  const header = { bearer: 'Authorization: Bearer YOUR_TOKEN', header: `${name || 'X-Name'}: YOUR_VALUE` }[String(type)]
  return [
    `curl -sS -X ${method} ${shellText(url)}`,
    ...(header ? [`  -H ${shellText(header)}`] : []),
    ...(body === undefined ? [] : ["  -H 'Content-Type: application/json'", `  -d ${shellText(body)}`]),
  ].join(' \\\n')
}

/** A shell command that sends a chat message, derived from the URL of the chat page. */
export function chatLine(url: string, { access }: Record<string, unknown>): string {
  const isByKey = access === undefined || access === 'key'
  const password = access === 'password' ? 'X-Chat-Password: THE_PASSWORD' : undefined
  const header = isByKey ? 'X-API-Key: YOUR_API_KEY' : password
  return [
    `curl -sS -X POST ${shellText(url.replace(/\/chat\/(?=[^/]*$)/, '/api/chat/'))}`,
    ...(header ? [`  -H ${shellText(header)}`] : []),
    "  -H 'Content-Type: application/json'",
    `  -d ${shellText('{"input":"Hello"}')}`,
  ].join(' \\\n')
}

function typeScript({ mode, url, origin, hasResponse }: SnippetFacts, body: object): string {
  const modeHeader = mode === 'asynchronous' ? `\n    'X-Execution-Mode': 'async',` : ''
  const request = [
    `const response = await fetch(${JSON.stringify(url)}, {`,
    "  method: 'POST',",
    '  headers: {',
    "    'X-API-Key': process.env.MILLRACE_API_KEY!,",
    `    'Content-Type': 'application/json',${modeHeader}`,
    '  },',
    `  body: JSON.stringify(${indented(JSON.stringify(body, null, 2), 2)}),`,
    '})',
  ]
  const rest = {
    plain: [
      'if (!response.ok) throw new Error(await response.text())',
      ...(hasResponse
        ? ['console.log(await response.text())']
        : ['const { output } = await response.json()', 'console.log(output)']),
    ],
    streaming: [
      'if (!response.ok) throw new Error(await response.text())',
      "let rest = ''",
      'for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {',
      "  const messages = (rest + part).split('\\n\\n')",
      "  rest = messages.pop() ?? ''",
      '  for (const message of messages) {',
      "    if (!message.startsWith('data: {')) continue",
      '    const event = JSON.parse(message.slice(6))',
      "    if (event.event === 'done') console.log(event.output)",
      '    else process.stdout.write(event.chunk)',
      '  }',
      '}',
    ],
    asynchronous: [
      'if (!response.ok) throw new Error(await response.text())',
      'const { statusUrl } = await response.json()',
      'for (;;) {',
      `  const poll = await fetch(${JSON.stringify(origin)} + statusUrl, {`,
      "    headers: { 'X-API-Key': process.env.MILLRACE_API_KEY! },",
      '  })',
      '  const job = await poll.json()',
      "  if (job.status === 'completed') console.log(job.output)",
      "  if (!['queued', 'processing'].includes(job.status)) break",
      '  await new Promise((resolve) => setTimeout(resolve, 1000))',
      '}',
    ],
  }[mode]
  return [...request, ...rest].join('\n')
}

function python({ mode, url, origin, hasResponse }: SnippetFacts, body: object): string {
  const imports = [
    ...(mode === 'streaming' ? ['import json'] : []),
    'import os',
    ...(mode === 'asynchronous' ? ['import time'] : []),
    'import requests',
  ]
  const modeHeader = mode === 'asynchronous' ? ', "X-Execution-Mode": "async"' : ''
  const request = [
    ...imports,
    '',
    `headers = {"X-API-Key": os.environ["MILLRACE_API_KEY"]${modeHeader}}`,
    `response = requests.post(`,
    `    ${JSON.stringify(url)},`,
    '    headers=headers,',
    `    json=${indented(pythonText(body), 4)},`,
    ...(mode === 'streaming' ? ['    stream=True,'] : []),
    ')',
    'response.raise_for_status()',
  ]
  const rest = {
    plain: [hasResponse ? 'print(response.text)' : 'print(response.json()["output"])'],
    streaming: [
      'for line in response.iter_lines(decode_unicode=True):',
      '    if line.startswith("data: {"):',
      '        event = json.loads(line[6:])',
      '        print(event["output"] if event.get("event") == "done" else event["chunk"], end="", flush=True)',
    ],
    asynchronous: [
      'job = response.json()',
      'while job["status"] in ("queued", "processing"):',
      '    time.sleep(1)',
      `    job = requests.get(${JSON.stringify(origin)} + "/api/jobs/" + job["taskId"], headers=headers).json()`,
      'print(job.get("output"))',
    ],
  }[mode]
  return [...request, ...rest].join('\n')
}

function indented(text: string, by: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(by)}`)
}

/** JSON in Python syntax: True, False and None. */
function pythonText(value: unknown, depth = 0): string {
  const pad = '    '.repeat(depth + 1)
  const end = '    '.repeat(depth)
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    return `[\n${value.map((item) => `${pad}${pythonText(item, depth + 1)},`).join('\n')}\n${end}]`
  }
  if (typeof value === 'object') {
    const entries = Object.entries(value)
    if (entries.length === 0) return '{}'
    const lines = entries.map(([key, item]) => `${pad}${JSON.stringify(key)}: ${pythonText(item, depth + 1)},`)
    return `{\n${lines.join('\n')}\n${end}}`
  }
  return JSON.stringify(value)
}
