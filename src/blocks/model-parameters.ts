import { type Static, Type as t } from '@sinclair/typebox'
import type { ModelRequest } from '../domain/model-call.ts'
import type { PriceOf } from '../domain/model-prices.ts'
import type { ParameterFinding } from '../engine/block.ts'

/** The parameters of every block that asks a language model. */
export const modelParameters = {
  provider: t.Union(
    [t.Literal('openai'), t.Literal('anthropic'), t.Literal('google'), t.Literal('openai-compatible')],
    {
      title: 'Provider',
      description: '"openai-compatible" is any service that speaks as OpenAI does: Ollama, vLLM, …',
    },
  ),
  model: t.String({ minLength: 1, maxLength: 200, title: 'Model', description: 'Its name at the provider.' }),
  baseUrl: t.Optional(
    t.String({
      title: 'Base URL',
      description: 'Address of the service up to and with /v1. Needed for "openai-compatible".',
    }),
  ),
  apiKey: t.Optional(t.String({ title: 'API key', description: 'Best an environment variable: {{OPENAI_API_KEY}}.' })),
  temperature: t.Optional(t.Number({ minimum: 0, maximum: 2, title: 'Temperature' })),
  maxTokens: t.Optional(
    t.Integer({
      minimum: 1,
      maximum: 10_000_000,
      title: 'Output limit',
      description: 'Tokens that one answer may have.',
    }),
  ),
  timeoutMs: t.Integer({
    default: 120_000,
    minimum: 1,
    maximum: 86_400_000,
    title: 'Timeout',
    description: 'Milliseconds for one attempt, from its start to the last byte of the answer.',
  }),
  retries: t.Integer({
    default: 2,
    minimum: 0,
    maximum: 10,
    title: 'Retries',
    description:
      'Further attempts after a timeout, a failed connection, or status 429 or 5xx; none once text has been streamed.',
  }),
}

const Schema = t.Object(modelParameters)
export type ModelParameters = Static<typeof Schema>

/** The part of a request that comes from these parameters. */
export function selectionOf(params: ModelParameters): Omit<ModelRequest, 'messages' | 'tools' | 'signal' | 'onText'> {
  const { provider, model, baseUrl, apiKey, temperature, maxTokens, timeoutMs } = params
  return {
    provider,
    model,
    timeoutMs,
    ...(baseUrl ? { baseUrl: baseUrl.replace(/\/+$/, '') } : {}),
    ...(apiKey ? { apiKey } : {}),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  }
}

/** Findings about these parameters. `params` are the static ones, `written` all of them. */
export function checkModelParameters(
  params: Readonly<Record<string, unknown>>,
  written: Readonly<Record<string, unknown>>,
  priceOf: PriceOf,
): ParameterFinding[] {
  const { provider, model, baseUrl } = params as Partial<ModelParameters>
  const findings: ParameterFinding[] = []
  const error = (code: string, path: string, message: string) => findings.push({ level: 'error', code, path, message })
  if (provider === 'openai-compatible' && !written['baseUrl']) {
    error(
      'MISSING_PARAMETER',
      'baseUrl',
      'The provider "openai-compatible" needs a baseUrl: the address of the service up to /v1.',
    )
  }
  if (provider !== undefined && provider !== 'openai-compatible' && !written['apiKey']) {
    error('MISSING_PARAMETER', 'apiKey', `The provider "${provider}" needs an apiKey.`)
  }
  if (baseUrl !== undefined && baseUrl !== '' && !/^https?:\/\/[^/?#\\]/i.test(baseUrl)) {
    error('INVALID_URL', 'baseUrl', `"${baseUrl}" can't be called: a URL starts with http:// or https:// and a host.`)
  }
  if (model !== undefined && !priceOf(model)) {
    const message =
      `The price of the model "${model}" is not known: what it costs is counted as 0. ` +
      'The operator can add it to the file that MILLRACE_MODEL_PRICES names.'
    findings.push({ level: 'warning', code: 'UNKNOWN_PRICE', path: 'model', message })
  }
  return findings
}

/** What the span shows of a block that asks a model. */
export function withoutKey({ apiKey: _apiKey, ...shown }: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return shown
}
