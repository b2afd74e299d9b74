/** The workflow in the picture of the editor. */
export const support = {
  name: 'Support triage',
  description: 'Reads a message from a customer, looks up what they ordered, and opens a ticket in the right queue.',
  blocks: {
    start: {
      type: 'api_trigger',
      name: 'New message',
      position: { x: 0, y: 110 },
      params: {
        inputFormat: [
          { name: 'customerId', type: 'string', required: true, value: 'c-219' },
          { name: 'message', type: 'string', required: true, value: 'My lamp arrived broken. I need it by Friday.' },
        ],
      },
    },
    customer: {
      type: 'api',
      name: 'Customer',
      position: { x: 290, y: 0 },
      params: { url: '{{CRM_URL}}/customers/:id', method: 'GET', pathParams: { id: '<api.customerId>' } },
    },
    orders: {
      type: 'api',
      name: 'Recent orders',
      position: { x: 290, y: 220 },
      params: { url: '{{SHOP_URL}}/orders', method: 'GET', params: [{ key: 'customer', value: '<api.customerId>' }] },
    },
    summary: {
      type: 'agent',
      name: 'Summarize',
      position: { x: 580, y: 110 },
      params: {
        provider: 'openai',
        baseUrl: '{{MODEL_URL}}',
        apiKey: '{{MODEL_KEY}}',
        model: 'gpt-5-mini',
        systemPrompt: 'Summarize the message for the support team in two sentences.',
        userPrompt: '<api.message>\n\nOrders: <recentorders.data>',
      },
    },
    urgent: {
      type: 'condition',
      name: 'Urgent',
      position: { x: 870, y: 110 },
      params: {
        conditions: [{ id: 'urgent', expression: '<customer.data.tier> === "gold"' }],
      },
    },
    priority: {
      type: 'api',
      name: 'Priority ticket',
      position: { x: 1160, y: 0 },
      params: {
        url: '{{DESK_URL}}/tickets',
        method: 'POST',
        body: { customer: '<customer.data.name>', summary: '<summarize.content>', queue: 'priority' },
      },
    },
    later: {
      type: 'function',
      name: 'Standard queue',
      position: { x: 1160, y: 220 },
      params: { code: 'return { queue: "standard" }' },
    },
  },
  edges: [
    { source: 'start', target: 'customer' },
    { source: 'start', target: 'orders' },
    { source: 'customer', target: 'summary' },
    { source: 'orders', target: 'summary' },
    { source: 'summary', target: 'urgent' },
    { source: 'urgent', target: 'priority', sourceHandle: 'condition-urgent' },
    { source: 'urgent', target: 'later', sourceHandle: 'condition-else' },
  ],
}
