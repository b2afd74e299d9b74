import { AppError, type ErrorCode } from '../../domain/errors.ts'
import { codeV2Of, ErrorV2, errorBodyV2, statusV2Of } from '../errors-v2.ts'
import { type Json, type NamedSchemas, plainSchema } from './plain-schema.ts'

/** The error responses of a route of `/api/v2`: one per status, which has one code. */
export function errorResponsesV2(
  codes: ReadonlySet<ErrorCode>,
  { named, examples }: { named: NamedSchemas; examples: { errors: Readonly<Record<ErrorCode, unknown>> } },
  headersOf: (status: number) => Json,
): Json {
  const schema = plainSchema(ErrorV2, named)
  const responses: Json = {}
  for (const [status, list] of [...Map.groupBy(codes, statusV2Of)].sort(([a], [b]) => a - b)) {
    const codesHere = new Set(list.map(codeV2Of))
    responses[status] = {
      description: [...codesHere].map((code) => `\`${code}\``).join(' or '),
      headers: headersOf(status),
      content: {
        'application/json': {
          schema,
          examples: Object.fromEntries(list.map((code) => [code, { value: exampleOf(code, examples.errors[code]) }])),
        },
      },
    }
  }
  return responses
}

/** `example`: of the other routes. */
function exampleOf(code: ErrorCode, example: unknown): unknown {
  const { error, details } = example as { error: string; details?: { path: string; message: string }[] }
  return errorBodyV2(new AppError(code, error, details && { details }))
}
