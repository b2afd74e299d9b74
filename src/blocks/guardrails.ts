import { addTokens, noTokens } from '../domain/run/cost.ts'
import { asText } from '../domain/workflow/reference.ts'
import {
  type BlockContext,
  BlockError,
  type BlockErrorData,
  type BlockResult,
  defineBlock,
  type ParameterFinding,
  type WorkflowFacts,
} from '../engine/block.ts'
import { schemaFindings } from './agent-tool-parameters.ts'
import { type CheckResult, checks } from './guardrails/checks.ts'
import { type CheckName, checkNames, GuardrailsParameters, modelChecks } from './guardrails/parameters.ts'
import { unknownKeywords } from './guardrails/schema-check.ts'
import { checkModelParameters, withoutApiKey } from './model-parameters.ts'
import { addCallCost } from './model-turn.ts'

/** Checks a text with rules and with a language model. A failed check is not a failure of the block. */
export const guardrails = defineBlock({
  type: 'guardrails',
  label: 'Guardrails',
  description: 'Checks a text: JSON, a pattern, personal data, toxicity, hallucination.',
  kind: 'step',
  parameters: GuardrailsParameters,
  modes: { checks: 'literal', jsonSchema: 'json', regex: 'literal' },
  outputs: [
    ...['passed', 'checks', 'error', 'score', 'reasoning', 'detectedEntities', 'maskedText'],
    ...['validationType', 'input', 'model', 'tokens', 'cost'],
  ],
  ports: { others: ['failed'] },
  mayFail: true,
  check,
  showInput: withoutApiKey,
  run,
})

/** The longest text that the block checks: even linear work on a longer text would take too long. */
const textCharsMax = 1_000_000

async function run(params: GuardrailsParameters, context: BlockContext): Promise<BlockResult> {
  const text = asText(params.input)
  if (text.length > textCharsMax) {
    const message = `The text has ${text.length} characters. Guardrails check at most ${textCharsMax}.`
    throw new BlockError('TEXT_TOO_LONG', message)
  }
  const missing = missingParameter(params.checks, params)
  if (missing) throw new BlockError('INVALID_PARAMETER', missing.message)
  const chosen = checkNames.filter((name) => params.checks.includes(name))
  const results: ({ check: CheckName } & CheckResult)[] = []
  for (const name of chosen) {
    // Later checks send only the masked text to a model.
    const shown = results.find(({ maskedText }) => maskedText !== undefined)?.maskedText ?? text
    const result = await checks[name](shown, params, context)
    results.push({ check: name, ...result })
    if (!result.passed) break
  }
  return resultOf(results, chosen, params)
}

function resultOf(
  results: readonly ({ check: CheckName } & CheckResult)[],
  chosen: readonly CheckName[],
  { input, model }: GuardrailsParameters,
): BlockResult {
  const passed = results.every((result) => result.passed)
  const last = results.findLast(({ score }) => score !== undefined)
  const failure: BlockErrorData | undefined = results.find((result) => result.failure)?.failure
  const usages = results.flatMap(({ usage }) => usage ?? [])
  const outputs = {
    passed: failure ? null : passed,
    checks: results.map(({ check: name, passed: one, error = null, score = null, reasoning = null }) => {
      return { check: name, passed: one, error, score, reasoning }
    }),
    error: results.find(({ error }) => error !== undefined)?.error ?? null,
    score: last?.score ?? null,
    reasoning: last?.reasoning ?? null,
    detectedEntities: results.find(({ detected }) => detected)?.detected ?? null,
    maskedText: results.find(({ maskedText }) => maskedText !== undefined)?.maskedText ?? null,
    validationType: chosen.join(', '),
    input,
    model: usages.length > 0 ? model : null,
    tokens: usages.reduce((sum, { tokens }) => addTokens(sum, tokens), noTokens),
    cost: usages.reduce((sum, { cost }) => addCallCost(sum, cost), { input: 0, output: 0, total: 0 }),
  }
  if (failure) return { outputs, error: failure }
  return passed ? { outputs } : { outputs, port: 'failed' }
}

type Given = Readonly<Record<string, unknown>>

function check(params: Given, { priceOf }: WorkflowFacts, written: Given): ParameterFinding[] {
  const chosen = Array.isArray(written['checks']) ? (written['checks'] as unknown[]) : []
  const { jsonSchema, regex } = params
  const missing = missingParameter(chosen, written)
  const findings: ParameterFinding[] = missing ? [error('MISSING_PARAMETER', missing.path, missing.message)] : []
  if (chosen.includes('json') && jsonSchema !== undefined) {
    const faults = schemaFindings('jsonSchema', 'JSON schema', jsonSchema)
    const unknown = faults.length > 0 ? [] : unknownKeywords(jsonSchema)
    findings.push(...faults)
    for (const { path, message } of unknown) findings.push(error('INVALID_SCHEMA', `jsonSchema.${path}`, message))
  }
  const fault = chosen.includes('regex') && typeof regex === 'string' ? patternFault(regex) : undefined
  if (fault !== undefined) findings.push(error('INVALID_PATTERN', 'regex', `The pattern is not valid: ${fault}`))
  const asksModel = modelChecks.some((name) => chosen.includes(name))
  return asksModel ? [...findings, ...checkModelParameters(params, written, priceOf)] : findings
}

/** The first parameter that a chosen check needs and that is empty. */
function missingParameter(chosen: readonly unknown[], given: Given): { path: string; message: string } | undefined {
  const isMissing = (name: string) => given[name] === undefined || given[name] === null || given[name] === ''
  const asksModel = modelChecks.some((name) => chosen.includes(name))
  if (chosen.includes('regex') && isMissing('regex')) return { path: 'regex', message: 'Pattern is empty.' }
  if (chosen.includes('hallucination') && isMissing('source')) {
    const message = 'Source is empty. Enter the text that must support the checked text, or a reference to it.'
    return { path: 'source', message }
  }
  if (asksModel && isMissing('provider')) return { path: 'provider', message: 'Provider is empty.' }
  if (asksModel && isMissing('model')) return { path: 'model', message: 'Model is empty.' }
  return undefined
}

/** Compiling a pattern takes little time here, because its length is limited. Only the search can take long. */
function patternFault(regex: string): string | undefined {
  try {
    new RegExp(regex)
    return undefined
  } catch (thrown) {
    return (thrown as Error).message.replace(/^Invalid regular expression: /, '')
  }
}

function error(code: string, path: string, message: string): ParameterFinding {
  return { level: 'error', code, path, message }
}
