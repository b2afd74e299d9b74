import { type Static, Type as t } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { toolNameCharsMax, toolNamePattern } from './tool-name.ts'

/** Makes a deployed workflow a tool of MCP clients. Without a name or a description, those of the workflow are used. */
export const McpExposure = t.Object(
  {
    expose: t.Boolean(),
    name: t.Optional(
      t.String({
        minLength: 1,
        maxLength: toolNameCharsMax,
        pattern: toolNamePattern,
        expected: '1 to 64 letters, digits, "-" and "_"',
      }),
    ),
    description: t.Optional(t.String({ maxLength: 2_000 })),
  },
  { additionalProperties: false },
)
export type McpExposure = Static<typeof McpExposure>

/** The exposure in a stored document. Ignores an invalid member `mcp`, which earlier versions accepted. */
export function exposureIn({ mcp }: { mcp?: unknown }): McpExposure | undefined {
  return Value.Check(McpExposure, mcp) && mcp.expose ? mcp : undefined
}
