/** The workflow of most measurements: a trigger, a condition and a response. */
export const conditionWorkflow = {
  name: 'Condition',
  blocks: Object.fromEntries(
    [
      { id: 'start', type: 'api_trigger', params: { inputFormat: [{ name: 'n', type: 'number' }] } },
      { id: 'if', type: 'condition', params: { conditions: [{ id: 'big', expression: '<start.n> > 3' }] } },
      { id: 'big', type: 'response', params: { data: { big: true, n: '<start.n>' } } },
    ].map((each) => [each.id, { ...each, name: each.id }]),
  ),
  edges: [
    { source: 'start', target: 'if', sourceHandle: 'source' },
    { source: 'if', target: 'big', sourceHandle: 'condition-big' },
  ],
}
