import type { ServiceRules } from './rule.ts'
import { hubspot, stripe, wordpress } from './tables/business.ts'
import { discord, slack, telegram, twilio, whatsapp } from './tables/chat.ts'
import { github, gitlab } from './tables/development.ts'
import { googleCalendar } from './tables/google-calendar.ts'
import { googleDocs, googleDrive, googleSheets } from './tables/google-files.ts'
import { gmail } from './tables/google-mail.ts'
import { jira, linear } from './tables/issues.ts'
import { airtable, notion, qdrant, supabase } from './tables/notes-and-tables.ts'
import { firecrawl, mistralParse } from './tables/reading.ts'
import { exa, googleSearch, jina, openai, perplexity, serper, tavily } from './tables/search.ts'
import { redditRules, resend, xRules } from './tables/social.ts'

/** Every service whose blocks have a mapping. */
export const services: readonly ServiceRules[] = [
  ...[slack, discord, telegram, twilio, whatsapp],
  ...[gmail, googleCalendar, googleDrive, googleDocs, googleSheets],
  ...[notion, airtable, supabase, qdrant],
  ...[github, gitlab, linear, jira],
  ...[hubspot, stripe, wordpress],
  ...[firecrawl, mistralParse],
  ...[serper, tavily, exa, googleSearch, jina, perplexity, openai],
  ...[redditRules, xRules, resend],
]

/** By the block type of Sim. */
export const servicesByType: ReadonlyMap<string, ServiceRules> = new Map(
  services.flatMap((rules) => rules.types.map((type) => [type, rules] as const)),
)
