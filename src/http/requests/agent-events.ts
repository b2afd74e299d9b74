/** With this header, a caller says which additional messages of a stream it understands. */
export const agentEventsHeader = 'X-Sim-Stream-Protocol'
export const agentEventsProtocol = 'agent-events-v1'

/** The messages about agents that a stream has in addition to `chunk_reset`. */
export type AgentEvents = { thinking: boolean; toolCalls: boolean }

/** Whether a caller understands the messages about agents. The header may list several protocols. */
export function acceptsAgentEvents(headers: Headers): boolean {
  const protocols = headers.get(agentEventsHeader)
  if (protocols === null) return false
  return protocols.split(',').some((each) => each.trim().toLowerCase() === agentEventsProtocol)
}
