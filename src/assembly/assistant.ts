import { Assistant } from '../assistant/assistant.ts'
import { readAssistantModel } from '../assistant/assistant-model.ts'
import { repliesMax } from '../assistant/budget.ts'
import { responseBytesMax } from '../domain/limits.ts'
import { createLanguageModels } from '../models/language-models.ts'
import { parseAllowList } from '../outbound/addresses.ts'
import { createOutbound } from '../outbound/fetch.ts'
import type { Base } from './base.ts'

export type AssistantParts = { assistant: Assistant; stop(): Promise<void> }

/**
 * The assistant of the editor; undefined when the operator has not chosen a model. It has a separate HTTP client,
 * because the operator chose its address: workflows may not call that address, and do not share its slots.
 */
export function assembleAssistant({ config, clock, build, priceOf }: Base): AssistantParts | undefined {
  const reading = readAssistantModel(config)
  if (!reading.ok || !reading.model) return undefined
  const { baseUrl } = reading.model
  const allowed = parseAllowList(baseUrl === undefined ? [] : [new URL(baseUrl).host])
  if (!allowed.ok) throw new Error(allowed.message)
  const { total } = repliesMax
  const outbound = createOutbound({
    ...{ allow: allowed.allow, version: build.version, clock },
    concurrency: { total, perOrigin: total },
  })
  const models = createLanguageModels({ open: outbound.open, clock, responseBytesMax })
  const assistant = new Assistant({
    ...{ model: reading.model, call: models.call, priceOf, clock },
    random: Math.random,
    tokensPerDay: config.assistantTokensPerDay,
  })
  return {
    assistant,
    async stop() {
      await assistant.stop()
      outbound.stop()
    },
  }
}
