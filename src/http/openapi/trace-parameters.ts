/** The headers of W3C Trace Context, for operations that start runs. */
export const traceParameters = [
  {
    name: 'traceparent',
    in: 'header' as const,
    required: false,
    description:
      'The place of the request in a distributed trace (W3C Trace Context). While runs are exported as traces, the run ' +
      'becomes a part of it. An invalid value is ignored.',
    schema: { type: 'string' as const },
    example: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  },
  {
    name: 'tracestate',
    in: 'header' as const,
    required: false,
    description: 'Data of tracing systems, which requests of the run carry on. Only with `traceparent`.',
    schema: { type: 'string' as const },
    example: 'vendor=t61rcWkgMzE',
  },
]
