"""The bytes of YARP 3 and YARP 4: Bottles, records, connections and the name server's text, without sockets."""
