import { mapRedis } from '../databases/redis.ts'
import { mapS3 } from '../databases/s3.ts'
import { mapMysql, mapPostgres } from '../databases/sql.ts'
import type { MapBlock } from '../mapping.ts'
import { mapAgent } from './agent.ts'
import { mapApi } from './api.ts'
import { mapCondition, mapRouter, mapRouterV2 } from './branches.ts'
import { mapEvaluator, mapGuardrails } from './checks.ts'
import { mapFile } from './files.ts'
import { mapHuman } from './human.ts'
import { mapImap, mapSmtp } from './mail.ts'
import { mapFunction, mapResponse, mapVariables, mapWait, mapWorkflow } from './steps.ts'
import {
  mapApiTrigger,
  mapChatTrigger,
  mapManualTrigger,
  mapRss,
  mapSchedule,
  mapStart,
  mapStarter,
  mapWebhook,
} from './triggers.ts'

/** The mappers of Sim's own blocks, by type. */
export const coreMappers: ReadonlyMap<string, MapBlock> = new Map<string, MapBlock>([
  ['start_trigger', mapStart],
  ['starter', mapStarter],
  ['api_trigger', mapApiTrigger],
  ['input_trigger', mapManualTrigger],
  ['manual_trigger', mapManualTrigger],
  ['chat_trigger', mapChatTrigger],
  ['schedule', mapSchedule],
  ['rss', mapRss],
  ['generic_webhook', mapWebhook],
  ['webhook', mapWebhook],
  ['agent', mapAgent],
  ['function', mapFunction],
  ['condition', mapCondition],
  ['router', mapRouter],
  ['router_v2', mapRouterV2],
  ['evaluator', mapEvaluator],
  ['guardrails', mapGuardrails],
  ['api', mapApi],
  ['response', mapResponse],
  ['variables', mapVariables],
  ['wait', mapWait],
  ['human_in_the_loop', mapHuman],
  ['human_in_the_loop_v2', mapHuman],
  ['smtp', mapSmtp],
  ['imap', mapImap],
  ['postgresql', mapPostgres],
  ['mysql', mapMysql],
  ['redis', mapRedis],
  ['s3', mapS3],
  ['file', mapFile],
  ['file_v2', mapFile],
  ['file_v3', mapFile],
  ['file_v4', mapFile],
  ['file_v5', mapFile],
  ['workflow', mapWorkflow],
  ['workflow_input', mapWorkflow],
])
