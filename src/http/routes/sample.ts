import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Door } from '../access/door.ts'
import { searchParamsOf } from '../access/request-url.ts'
import { route } from '../openapi/route.ts'
import { listOf } from '../responses/schema-parts.ts'

const QuoteList = listOf(t.Object({ author: t.String(), text: t.String(), tag: t.String() }, { $id: 'Quote' }))

/** The only path of this service that workflows may call without a setting. */
export const samplePath = '/sample/quotes'

/**
 * Sample data for the sample workflow's API block, so that the first run works without internet. The address rules
 * allow workflows to call this path of the service and no other.
 */
export function sampleRoutes(door: Door) {
  return new Elysia().get(
    samplePath,
    ({ request, set }) => {
      door.allowAnonymous(request, set)
      // Lenient: the tag is empty when a caller of the sample workflow omits its optional field.
      const tag = searchParamsOf(request).get('tag')?.trim().toLowerCase() ?? ''
      return { data: quotes.filter((quote) => tag === '' || quote.tag === tag) }
    },
    route({
      name: 'getQuotes',
      summary: 'Get a few quotes',
      description: 'Sample data to try requests with. An unknown tag gives an empty list.',
      tag: 'Operations',
      access: 'everyone',
      query: t.Object({ tag: t.Optional(t.String({ description: 'work, time or learning.' })) }),
      responses: { 200: QuoteList },
    }),
  )
}

const quotes = [
  { author: 'Benjamin Franklin', tag: 'time', text: 'Lost time is never found again.' },
  { author: 'Seneca', tag: 'time', text: 'While we are postponing, life speeds by.' },
  { author: 'Aristotle', tag: 'work', text: 'Pleasure in the job puts perfection in the work.' },
  { author: 'Voltaire', tag: 'work', text: 'Work keeps at bay three great evils: boredom, vice and need.' },
  { author: 'Marcus Aurelius', tag: 'learning', text: 'The mind becomes dyed with the colour of its thoughts.' },
  { author: 'Confucius', tag: 'learning', text: 'Learning without thought is labour lost.' },
]
