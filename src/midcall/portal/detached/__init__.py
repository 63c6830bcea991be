"""Pages that outlive their server: a small process of the same user serves them.

Many hosts end a stdio server with their turn, some after every call. The addresses that it gave out must work longer
than that. So the server hands its open pages to the *page process*, which it starts if it isn't running, and which ends
soon after the last page is done.

    files.py      where they meet: a private folder, and the locks in it
    server.py     the server's end: find or start the process, and hand over a page
    process.py    the process itself

Nothing on a command line, in an environment or in a file opens a page: keys go through a socket in the folder, whose
two ends check that the other one has the same user. Linux only, since other systems don't tell the user at the other
end of a connection.
"""
