import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** The way from the browser to the workbench's server, as a network is that can go and come back. */
export interface Connection {
  /** Where the browser finds the server, on 127.0.0.1. */
  readonly port: number;
  /** Whatever is open breaks, and nobody gets through any more. */
  lose(): void;
  /** Who asks anew gets through. */
  regain(): void;
  close(): Promise<void>;
}

/** @param port of the server, on 127.0.0.1 */
export async function startConnection(port: number): Promise<Connection> {
  const sockets = new Set<Socket>();
  let isLost = false;

  function join(from: Socket, to: Socket): void {
    sockets.add(from);
    from.pipe(to);
    // What breaks at one end breaks at the other; what ends there first brings over what it has.
    from.once('error', () => to.destroy());
    from.once('close', () => {
      sockets.delete(from);
      to.destroySoon();
    });
  }

  const relay = createServer((browser) => {
    if (isLost) {
      browser.resetAndDestroy();
      return;
    }
    const server = connect(port, '127.0.0.1');
    join(browser, server);
    join(server, browser);
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));

  const lose = (): void => {
    isLost = true;
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: portOf(relay),
    lose,
    regain: () => {
      isLost = false;
    },
    close: async () => {
      lose();
      await new Promise((resolve) => relay.close(resolve));
    },
  };
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
