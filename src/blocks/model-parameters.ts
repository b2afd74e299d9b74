import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../domain/one-of.ts'
import type { ModelRequest } from '../domain/run/model-call.ts'
import type { PriceOf } from '../domain/run/model-prices.ts'
import type { ParameterFinding } from '../engine/block.ts'

/** The parameters of every block that calls a language model. */
export const modelParameters = {
  provider: oneOf(['openai', 'anthropic', 'google', 'openai-compatible'], {
    title: 'Provider',
    description: '“OpenAI-compatible” is any service with the API of OpenAI: Ollama, vLLM, …',
    labels: {
      openai: 'OpenAI',
      anthropic: 'Anthropic',
      google: 'Google',
      'openai-compatible': 'OpenAI-compatible',
    },
  }),
  model: t.String({ minLength: 1, maxLength: 200, title: 'Model', description: "The provider's name for the model." }),
  baseUrl: t.Optional(
    t.String({
      title: 'Base URL',
      description: 'The address of the service, including /v1. Required for “OpenAI-compatible”.',
    }),
  ),
  apiKey: t.Optional(
    t.String({
      secret: true,
      title: 'API key',
      description: 'Use an environment variable, such as {{OPENAI_API_KEY}}.',
    }),
  ),
  credential: t.Optional(
    t.String({
      title: 'Credential',
      description: 'The name of a credential of the workspace, in place of an API key.',
    }),
  ),
  temperature: t.Optional(t.Number({ minimum: 0, maximum: 2, title: 'Temperature' })),
  maxTokens: t.Optional(
    t.Integer({
      minimum: 1,
      maximum: 10_000_000,
      title: 'Output limit',
      description: 'The most tokens in one response.',
    }),
  ),
  timeoutMs: t.Integer({
    default: 120_000,
    minimum: 1,
    maximum: 86_400_000,
    title: 'Timeout',
    description: 'Milliseconds for one attempt, from its start to the last byte of the response.',
  }),
  retries: t.Integer({
    default: 2,
    minimum: 0,
    maximum: 10,
    title: 'Retries',
    description:
      'Further attempts after a timeout, a failed connection, or a response with status 429 or 5xx. ' +
      'There are none once text has been streamed.',
  }),
}

const Schema = t.Object(modelParameters)
export type ModelParameters = Static<typeof Schema>

/** The part of a model request that comes from these parameters: which model to call, where, and with which limits. */
export function requestPartOf(params: ModelParameters): Omit<ModelRequest, 'messages' | 'tools' | 'signal' | 'onText'> {
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

/**
 * Checks the parameters at deployment. `params` has those without references, with their values; `written` has all, as
 * the author wrote them.
 */
export function checkModelParameters(
  params: Readonly<Record<string, unknown>>,
  written: Readonly<Record<string, unknown>>,
  priceOf: PriceOf,
): ParameterFinding[] {
  const { provider, model, baseUrl } = params as Partial<ModelParameters>
  const findings: ParameterFinding[] = []
  const error = (code: string, path: string, message: string) => findings.push({ level: 'error', code, path, message })
  if (provider === 'openai-compatible' && !written['baseUrl']) {
    error('MISSING_PARAMETER', 'baseUrl', 'Base URL is empty. Enter the address of the service, including /v1.')
  }
  if (provider !== undefined && provider !== 'openai-compatible' && !written['apiKey'] && !written['credential']) {
    error(
      'MISSING_PARAMETER',
      'apiKey',
      `API key is empty. Enter an environment variable, such as {{${provider.toUpperCase()}_API_KEY}}, or a credential.`,
    )
  }
  if (baseUrl !== undefined && baseUrl !== '' && !/^https?:\/\/[^/?#\\]/i.test(baseUrl)) {
    const message = `Base URL cannot be called: "${baseUrl}". It must start with http:// or https:// and a host name.`
    error('INVALID_URL', 'baseUrl', message)
  }
  if (model !== undefined && !priceOf(model)) {
    const message =
      `The price of the model "${model}" is unknown, so its cost counts as 0. ` +
      'The operator can add it to the file in MILLRACE_MODEL_PRICES.'
    findings.push({ level: 'warning', code: 'UNKNOWN_PRICE', path: 'model', message })
  }
  return findings
}

/** The parameters as a span shows them: without the API key. */
export function withoutApiKey({
  apiKey: _apiKey,
  ...shown
}: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return shown
}
