/** The description of a path parameter in the OpenAPI document; undefined when there is none. */
export function parameterText(path: string, name: string): string | undefined {
  return rules.find(([pattern, known]) => known === name && pattern.test(path))?.[2]
}

/** The first match applies. */
const rules: readonly (readonly [path: RegExp, name: string, text: string])[] = [
  [/^\/api\/workflows\/\{id\}/, 'id', "The workflow's id."],
  [/^\/api\/v[12]\/workflows\/\{id\}/, 'id', "The workflow's id."],
  [/./, 'runId', "The run's id: `runId` of the response that started it."],
  [/./, 'deliveryId', "The delivery's id: the header `svc-delivery-id`."],
  [/^\/api\/v1\/logs\/\{id\}/, 'id', "The entry's id, as the list gives it."],
  [/^\/api\/jobs\/\{id\}/, 'id', "The run's id: `taskId`, `jobId` and `executionId` are one."],
  [/^\/api\/webhooks\/trigger/, 'path', 'The path of a webhook trigger.'],
  [/^\/api\/forms/, 'path', 'The path of a form trigger.'],
  [/^\/api\/chat/, 'identifier', 'The identifier of a chat trigger.'],
  [/^\/api\/(v2\/)?workspaces\/\{id\}/, 'id', "The workspace's id."],
  [/^\/api\/workspaces\/\{id\}\/credentials/, 'name', 'The name of the credential.'],
  [/^\/api\/workspaces\/\{id\}\/environment/, 'name', 'The name of the variable: letters, digits and `_`.'],
  [/^\/api\/workspaces\/\{id\}\/store/, 'key', 'The key of the entry, with its special characters escaped.'],
  [/^\/api\/v2\/secrets/, 'name', 'The name of the secret: letters, digits and `_`.'],
  [/./, 'executionId', "The run's id: `X-Execution-Id` of the response that started it."],
  [/./, 'rerunId', "The re-run's id, as the response that started it gives it."],
  [/./, 'alertId', 'The ID of the alert.'],
  [/./, 'connectorId', 'The ID of the connector.'],
  [/./, 'contextId', 'The ID of the pause.'],
  [/./, 'workflowId', "The workflow's id."],
  [/./, 'token', 'The last part of the link to a pause.'],
  [/./, 'blockId', 'The id of a block of the draft.'],
  [/./, 'version', 'The number of a version: 1, 2, …'],
]
