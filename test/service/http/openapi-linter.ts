import { createConfig, lintFromString } from '@redocly/openapi-core'

/** The findings of a published linter for an OpenAPI document, including warnings and examples. */
export async function findOpenApiFaults(openApi: unknown): Promise<string[]> {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      'no-invalid-media-type-examples': 'error',
      'no-invalid-schema-examples': 'error',
      'no-invalid-parameter-examples': 'error',
      'no-unresolved-refs': 'error',
      'no-unused-components': 'error',
      'no-ambiguous-paths': 'error',
      'operation-description': 'off',
      'operation-singular-tag': 'error',
      'operation-tag-defined': 'error',
      'parameter-description': 'error',
      'tag-description': 'error',
      'operation-parameters-unique': 'error',
      'no-enum-type-mismatch': 'error',
      // The licence concerns the operator, not the API.
      'info-license': 'off',
    },
  })
  const problems = await lintFromString({ source: JSON.stringify(openApi), absoluteRef: '/openapi.json', config })
  return problems
    .filter(({ message }) => !ambiguousOnlyToTheLinter.test(message))
    .map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`)
}

/** Ambiguous only to the linter: no run has the ID `webhooks`, and no log entry the ID `executions`. */
const ambiguousOnlyToTheLinter =
  /`\/api\/v1\/logs\/\{id\}\/webhooks` and `\/api\/v1\/logs\/executions\/\{executionId\}`/
