"""Who is looking at a page: proven, or nobody.

base.py       what an identity is
loopback.py   the same user of this machine
oidc.py       the same user of the issuer
proxy.py      whom a fronting proxy vouches for, signed
calling.py    whom the author's own function names
nobody.py     no one: only plain forms
tokens.py     signed tokens and their keys
"""

from midcall.portal.identity.base import Caller, Identity, Key
from midcall.portal.identity.calling import FromCallable
from midcall.portal.identity.loopback import Loopback
from midcall.portal.identity.oidc import Oidc
from midcall.portal.identity.proxy import ProxyJwt

__all__ = ["Caller", "FromCallable", "Identity", "Key", "Loopback", "Oidc", "ProxyJwt"]
