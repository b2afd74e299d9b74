import { own } from '../../domain/edits/same-value.ts'

/** The types of Sim's sub-blocks, by ID. All other sub-blocks are one line of text. */
const types: Readonly<Record<string, string>> = {
  ...{ code: 'code', body: 'code', data: 'code', responseFormat: 'code', responseBody: 'code' },
  ...{ messages: 'messages-input', tools: 'tool-input', notification: 'tool-input', inputFormat: 'input-format' },
  ...{ conditions: 'condition-input', routes: 'router-input', variables: 'variables-input', metrics: 'eval-input' },
  ...{ headers: 'table', params: 'table', model: 'combobox', temperature: 'slider', content: 'long-input' },
  ...{ prompt: 'long-input', context: 'long-input', inputMapping: 'input-mapping', builderData: 'response-format' },
  ...{ method: 'dropdown', dataMode: 'dropdown', scheduleType: 'dropdown', timezone: 'dropdown', async: 'switch' },
  ...{ timeUnit: 'dropdown', timeUnitLong: 'dropdown', requireAuth: 'switch', workflowId: 'workflow-selector' },
}

/** Sub-blocks as Sim writes them. */
export function subBlocksOf(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([id, value]) => [id, { id, type: own(types, id) ?? 'short-input', value }]),
  )
}
