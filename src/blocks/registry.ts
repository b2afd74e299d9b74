import type { BlockDefinition } from '../engine/block.ts'
import { agent } from './agent.ts'
import { api } from './api.ts'
import { apiTrigger } from './api-trigger.ts'
import { approval } from './approval.ts'
import { chatTrigger } from './chat-trigger.ts'
import { condition } from './condition.ts'
import { data } from './data.ts'
import { email } from './email.ts'
import { emailTrigger } from './email-trigger.ts'
import { evaluator } from './evaluator.ts'
import { eventTrigger } from './event-trigger.ts'
import { formTrigger } from './form-trigger.ts'
import { functionBlock } from './function.ts'
import { guardrails } from './guardrails.ts'
import { loop } from './loop.ts'
import { manualTrigger } from './manual-trigger.ts'
import { mcp } from './mcp.ts'
import { operation } from './operation.ts'
import { parallel } from './parallel.ts'
import { placeholder } from './placeholder.ts'
import { pollTrigger } from './poll-trigger.ts'
import { redis } from './redis.ts'
import { response } from './response.ts'
import { router } from './router.ts'
import { rssTrigger } from './rss-trigger.ts'
import { s3 } from './s3.ts'
import { schedule } from './schedule.ts'
import { sql } from './sql.ts'
import { store } from './store.ts'
import { variables } from './variables.ts'
import { wait } from './wait.ts'
import { waitForCall } from './wait-for-call.ts'
import { webhookTrigger } from './webhook-trigger.ts'
import { workflow } from './workflow.ts'

/** All block types. To add one, write its file and list it here. */
export const registry: ReadonlyMap<string, BlockDefinition> = new Map(
  [
    ...[apiTrigger, webhookTrigger, schedule, pollTrigger, rssTrigger],
    ...[chatTrigger, formTrigger, emailTrigger, eventTrigger, manualTrigger],
    ...[api, operation, mcp, email, agent, router, evaluator, guardrails, functionBlock, condition, loop, parallel],
    ...[data, sql, redis, s3],
    ...[variables, store, wait, workflow, response, approval, waitForCall, placeholder],
  ].map((definition) => [definition.type, definition]),
)
