import type { Clock } from '../domain/clock.ts'
import type { AnswerFacts } from './door.ts'
import { errorResponse, toAppError } from './errors.ts'

export type OwnAnswerServices = {
  clock: Pick<Clock, 'monotonic'>
  answered(request: Request, response: Response, facts: AnswerFacts): void
}

/**
 * The answer of a route that makes `Response`s of its own. What `respond` throws becomes one, too, with the headers that
 * there are by then. The service is told of it, with what `respond` wrote into the facts.
 */
export async function ownAnswer(
  services: OwnAnswerServices,
  { request, headers }: { request: Request; headers: Record<string, string> },
  respond: (facts: AnswerFacts) => Promise<Response>,
): Promise<Response> {
  const facts: AnswerFacts = { startedAt: services.clock.monotonic() }
  let response: Response
  try {
    response = await respond(facts)
  } catch (thrown) {
    facts.error = thrown
    response = errorResponse(toAppError(thrown), headers)
  }
  services.answered(request, response, facts)
  return response
}
