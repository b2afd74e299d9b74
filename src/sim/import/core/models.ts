import type { SimValues } from '../sim-values.ts'

/** A provider that Sim recognises by the name of the model. The provider does not know the `prefix`. */
type ModelFamily = {
  names: RegExp
  prefix?: string
  provider: 'openai' | 'anthropic' | 'google' | 'openai-compatible'
  baseUrl?: string
  /** The variable of the workspace for a key that is not in the file. */
  key: string
}

const families: readonly ModelFamily[] = [
  family(/^openrouter\//, {
    prefix: 'openrouter/',
    baseUrl: 'https://openrouter.ai/api/v1',
    key: 'OPENROUTER_API_KEY',
  }),
  family(/^groq\//, { prefix: 'groq/', baseUrl: 'https://api.groq.com/openai/v1', key: 'GROQ_API_KEY' }),
  family(/^cerebras\//, { prefix: 'cerebras/', baseUrl: 'https://api.cerebras.ai/v1', key: 'CEREBRAS_API_KEY' }),
  family(/^together\//, { prefix: 'together/', baseUrl: 'https://api.together.xyz/v1', key: 'TOGETHER_API_KEY' }),
  family(/^fireworks\//, { prefix: 'fireworks/', baseUrl: fireworks(), key: 'FIREWORKS_API_KEY' }),
  family(/^ollama\//, { prefix: 'ollama/', baseUrl: '{{OLLAMA_URL}}', key: 'OLLAMA_API_KEY' }),
  family(/^vllm\//, { prefix: 'vllm/', baseUrl: '{{VLLM_BASE_URL}}', key: 'VLLM_API_KEY' }),
  family(/^azure\//, { prefix: 'azure/', baseUrl: '{{AZURE_OPENAI_URL}}', key: 'AZURE_OPENAI_API_KEY' }),
  { names: /^(?:gpt-|o\d|chatgpt|codex)/, provider: 'openai', key: 'OPENAI_API_KEY' },
  { names: /^claude/, provider: 'anthropic', key: 'ANTHROPIC_API_KEY' },
  { names: /^gemini/, provider: 'google', key: 'GOOGLE_API_KEY' },
  family(/^deepseek/, { baseUrl: 'https://api.deepseek.com/v1', key: 'DEEPSEEK_API_KEY' }),
  family(/^grok/, { baseUrl: 'https://api.x.ai/v1', key: 'XAI_API_KEY' }),
  family(/^(?:mistral|magistral|codestral|devstral|ministral|pixtral|open-mi)/, {
    baseUrl: 'https://api.mistral.ai/v1',
    key: 'MISTRAL_API_KEY',
  }),
]

/** All other models. In Sim, the names of Ollama's models need no prefix. */
const unknown = family(/^/, { baseUrl: '{{MODEL_BASE_URL}}', key: 'MODEL_API_KEY' })

function family(names: RegExp, more: Omit<ModelFamily, 'names' | 'provider'>): ModelFamily {
  return { names, provider: 'openai-compatible', ...more }
}

function fireworks(): string {
  return 'https://api.fireworks.ai/inference/v1'
}

/** The parameters of every block that calls a model. */
export function modelParametersOf(values: SimValues): { params: Record<string, unknown>; notes: string[] } {
  const written = values.text('model')
  const model = written ?? 'gpt-4o'
  const { prefix = '', provider, baseUrl, key } = families.find(({ names }) => names.test(model)) ?? unknown
  const notes = written === undefined ? ['The file names no model. The block now calls gpt-4o.'] : []
  const given = values.text('apiKey')
  const params: Record<string, unknown> = { provider, model: model.slice(prefix.length) || model }
  if (baseUrl !== undefined) params['baseUrl'] = baseUrl
  params['apiKey'] = given ?? `{{${key}}}`
  if (given === undefined) notes.push(`The key of the model is the variable ${key}: set it in the workspace.`)
  if (baseUrl?.startsWith('{{')) {
    notes.push(`The address of the model is the variable ${baseUrl.slice(2, -2)}: set it in the workspace.`)
  }
  const temperature = values.number('temperature')
  if (temperature !== undefined) params['temperature'] = temperature
  const maxTokens = values.number('maxTokens')
  if (maxTokens !== undefined) params['maxTokens'] = maxTokens
  return { params, notes }
}

/** The name of a model in Sim. */
export function simModelOf(params: Readonly<Record<string, unknown>>): string {
  const model = String(params['model'] ?? '')
  const prefix = families.find((each) => each.prefix !== undefined && each.baseUrl === params['baseUrl'])?.prefix
  return `${prefix ?? ''}${model}`
}

/** Whether a key is a variable that the import entered because the file had no key. */
export function isImpliedKey(params: Readonly<Record<string, unknown>>): boolean {
  return [...families, unknown].some(({ key }) => params['apiKey'] === `{{${key}}}`)
}
